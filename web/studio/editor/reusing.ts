/** Creates reusable content from a block, and page templates from pages. */
import type { EditorView } from "prosemirror-view";
import { api, ask, type Schemas } from "../../shared/client.ts";
import { isWritten, writeBlock } from "../document/convert.ts";
import type { BlockJson } from "../document/types.ts";
import type { Changes } from "../state/changing.ts";
import { changeContents } from "../state/contents.svelte.ts";
import { refuseRestricted } from "../state/restrictedPages.ts";
import type { Base } from "./base.ts";
import { asNew, blockOf, reusableBlock, withoutKeys } from "./blocks.ts";
import { loadPage } from "./page.ts";
import { words } from "./words.ts";

/** Save the text of a page as a page template. */
export async function keepPage(
  space: string,
  base: Base,
  { id, title }: { id: string; title: string },
): Promise<void> {
  await refuseRestricted(space, base, id);
  const { document } = await loadPage(space, base, id);
  const nodes = document.nodes.map((block) => writeBlock(asNew(block)));
  if (base.kind === "change") await insertReusable(space, base.number, title, nodes);
  else {
    const change = { operation: "insert_reusable_content", title, document: { document: nodes } };
    await changeContents(space, [change] as unknown as Changes, title);
  }
}

function insertReusable(space: string, change: number, title: string, nodes: BlockJson[]) {
  return ask(api.POST("/spaces/{spaceId}/change-requests/{changeRequestId}/content/reusable-contents", {
    params: { path: { spaceId: space, changeRequestId: String(change) } },
    body: { title, document: { document: nodes } } as unknown as Schemas["NewReusableContent"],
  }));
}

/** Create reusable content from the selected block of a page and replace it with a reference; `onmade` runs before the
 * replacement. */
export async function makeReusable(
  view: EditorView,
  { space, change, page }: { space: string; change: number; page: string },
  onmade: () => void,
): Promise<void> {
  const block = blockOf(view.state);
  if (!block || !isWritten(block.node)) return;
  const title = block.node.textContent.trim().slice(0, 60).trim() || words.blocks.reusable_content!;
  const nodes = [writeBlock(withoutKeys(block.node))];
  await refuseRestricted(space, {
    kind: "change",
    number: change,
  }, page);
  const made = await insertReusable(space, change, title, nodes);
  onmade();
  // Find the block again, if it still exists unchanged.
  let at: number | undefined;
  view.state.doc.descendants((node, position) => {
    if (node === block.node) at = position;
    return at === undefined;
  });
  if (at === undefined) return;
  view.dispatch(
    view.state.tr.replaceWith(at, at + block.node.nodeSize, reusableBlock(made.id)).scrollIntoView(),
  );
}
