/** Pages that the person is about to open. */
import { pageById } from "./page.svelte.ts";
import type { Base } from "../editor/base.ts";
import type { TreePage } from "./parts.ts";

const WAIT = 80;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Load a page after the pointer has rested on its row for a moment. */
export function prefetchPage(space: string, base: Base, page: TreePage): void {
  clearTimeout(timer);
  if (page.type === "document") timer = setTimeout(() => pageById(space, base, page.id), WAIT);
}
