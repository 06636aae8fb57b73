import type { Snippet } from "svelte";

/** Content that a site view adds to the frame around it. */
export interface Slots {
  /** Buttons in the bar, before those of the site. */
  actions: Snippet | undefined;
  panel: Snippet | undefined;
  /** The name of the panel. */
  label: string;
}
