/** Where the settings of a block are shown: in the side panel of the screen; on a screen without one, next to the block. */

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
