/** Loads the code that changes a tree, which isn't needed to read. */
import type { PageTree } from "./pages.svelte.ts";
import type { TreeEditor } from "./treeEditor.ts";

/** Return the same tree for changes. */
export async function editTree({ space, base }: PageTree): Promise<TreeEditor> {
  const { TreeEditor } = await import("./treeEditor.ts");
  return new TreeEditor(space, base);
}
