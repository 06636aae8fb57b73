/**
 * Decides where the settings of a block are shown: in the side panel of the screen or, on a screen without one,
 * next to the block. The code that renders them is loaded with the editor, because readers don't need it.
 */
import type { EditorView } from "prosemirror-view";

export interface ShownSettings {
  /** The name of the block. */
  title: string;
  element: HTMLElement;
  close: () => void;
}

export type SettingsHost = (shown: ShownSettings | undefined) => void;

let host: SettingsHost | undefined;

/** Register a screen that shows settings, until the returned function is called. */
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

/** Set the function that renders settings. The editor calls this. */
export function showSettingsWith(drawn: Show): void {
  show = drawn;
}

/** Open the settings of the node at a position. */
export function openSettings(...given: Parameters<Show>): void {
  show?.(...given);
}
