/**
 * Where the settings of a block are shown: beside the page, in the panel of its screen; where a screen has none, beside
 * the block. What draws them comes with what is there for writing: whoever reads needs none of it.
 */
import type { EditorView } from "prosemirror-view";

export interface ShownSettings {
  /** What the block is called. */
  title: string;
  element: HTMLElement;
  close: () => void;
}

export type SettingsHost = (shown: ShownSettings | undefined) => void;

let host: SettingsHost | undefined;

/** Has settings shown by a screen, until what comes back is called. */
export function hostSettings(show: SettingsHost): () => void {
  host = show;
  return () => {
    if (host === show) host = undefined;
  };
}

export function settingsHost(): SettingsHost | undefined {
  return host;
}

type Show = (view: EditorView, position: number | undefined, beside: HTMLElement) => void;

let show: Show | undefined;

/** Who writes brings what draws settings. */
export function showSettingsWith(drawn: Show): void {
  show = drawn;
}

/** Opens the settings of the node at a position. */
export function openSettings(...given: Parameters<Show>): void {
  show?.(...given);
}
