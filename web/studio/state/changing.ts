/** Edits of a space's content, with what became of each. */
import { api, ask, type Schemas } from "../../shared/client.ts";
import type { Base } from "../editor/base.ts";

export type Changes = Schemas["ChangeContent"]["changes"];
export type Answer = Schemas["ChangeContentAnswer"];

/** Changes main or a change request, and gives what became of each change: without `compat=false` the API answers with
 * the change request alone. */
export async function changeContent(
  space: string,
  base: Base,
  body: Schemas["ChangeContent"],
  signal?: AbortSignal,
): Promise<Answer> {
  const rest = { body, ...(signal ? { signal } : {}) };
  const answer = base.kind === "change"
    ? await ask(api.POST("/spaces/{spaceId}/change-requests/{changeRequestId}/content", {
      params: { path: { spaceId: space, changeRequestId: String(base.number) }, query: { compat: false } },
      ...rest,
    }))
    : await ask(api.POST("/spaces/{spaceId}/content", { params: { path: { spaceId: space } }, ...rest }));
  return answer as Answer;
}
