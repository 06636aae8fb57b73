/** Opens the settings of a block. The code that renders them is large, so it's loaded when it is needed. */
import type { Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";

/** The code that renders settings, after they are opened for the first time. */
let loaded: typeof import("./settings.ts") | undefined;

export async function loadSettings(): Promise<typeof import("./settings.ts")> {
  return loaded ??= await import("./settings.ts");
}

/** Open the settings of the node at a position. */
export async function openSettings(
  ...given: [view: EditorView, position: number | undefined, beside: HTMLElement]
): Promise<void> {
  (await loadSettings()).showSettings(...given);
}

/** Keep open settings with their block. */
export function followSettings(view: EditorView, transaction: Transaction): void {
  loaded?.followSettings(view, transaction);
}

export function closeSettings(view: EditorView): void {
  loaded?.closeSettings(view);
}
