/** How the menus that block settings use open the settings of their block. They can't import `opening.ts`. */
import type { EditorView } from "prosemirror-view";

type Open = (view: EditorView, position: number | undefined, beside: HTMLElement) => Promise<void>;

let opener: Open | undefined;

export function openWith(open: Open): void {
  opener = open;
}

export const openSettingsOf: Open = async (...given) => await opener?.(...given);
