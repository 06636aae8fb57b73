/** Keeps restricted pages out of what other people see, such as subjects and copies. */
import { ApiError, askAll, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { getChangeRequestChanges, updateChangeRequestById } from "../api/changes.ts";
import { getPageAccess } from "../api/content.ts";
import type { Base } from "../editor/base.ts";
import type { Page } from "./page.svelte.ts";
import { changeOf } from "./pages.svelte.ts";
import { readWay } from "./parts.ts";
import { refresh } from "./resource.svelte.ts";

/** Return the rules that restrict a page in main; none if it isn't there. A draft from before a rule doesn't have it. */
export async function rulesInMain(spaceId: string, pageId: string): Promise<Schemas["PageAccessRule"][]> {
  try {
    return (await getPageAccess({ spaceId, pageId })).rules;
  } catch (problem) {
    if (problem instanceof ApiError && problem.status === 404) return [];
    throw problem;
  }
}

/** Return whether a page of main or a draft is restricted there or in main. */
export async function isRestricted(space: string, base: Base, id: string): Promise<boolean> {
  const [{ levels }, rules] = await Promise.all([readWay(space, base, { to: id }), rulesInMain(space, id)]);
  const way = new Set([id, ...levels.map((level) => level.parent)]);
  return rules.length > 0 ||
    levels.some(({ items }) => items.some((one) => way.has(one.id) && one.visibleTo));
}

/** Fail if a page is restricted. Everyone in the space can see what is created from its text. */
export async function refuseRestricted(space: string, base: Base, id: string): Promise<void> {
  if (await isRestricted(space, base, id)) throw new Error(t("restrictedTextCantBeReused"));
}

/** If a page of a draft is restricted, change the draft's subject if it contains the title of that page or of an edited
 * page under it. */
export async function hideTitle(
  space: string,
  number: number,
  page: Pick<Page, "id" | "title">,
): Promise<void> {
  const path = { spaceId: space, changeRequestId: String(number) };
  const subject = (await changeOf(space, number).refresh({ force: true })).subject?.toLowerCase() ?? "";
  const isNamed = ({ title }: { title: string }) =>
    title.trim() && subject.includes(title.trim().toLowerCase());
  const base = { kind: "change", number } as const;
  if (!subject || !await isRestricted(space, base, page.id)) return;
  if (!isNamed(page)) {
    const { items } = await askAll(async (query) => {
      const { changes, ...rest } = await getChangeRequestChanges(path, query);
      return { ...rest, items: changes };
    });
    const others = items.flatMap((one) => one.page && isNamed(one.page) ? [one.page.id] : []);
    const ways = await Promise.all(
      [...new Set(others)].map((to) => readWay(space, base, { to }).catch(() => undefined)),
    );
    if (!ways.some((way) => way?.levels.some((level) => level.parent === page.id))) return;
  }
  await updateChangeRequestById(path, { subject: t("editPage") });
  await Promise.all([refresh(`space/${space}/`), refresh("org/")]);
}
