import type { Component } from "svelte";

interface Opened {
  /** What a dialog is given comes with it: it reads that also once it is closed, until it has gone. */
  load: () => Promise<{ Dialog: Component<Record<string, unknown>>; given: Record<string, unknown> }>;
}

/** What of the frame is open: the navigation where it folds, the palette, a dialog. */
class Frame {
  /** The navigation, over the sheet; only where there is no room beside it. */
  side = $state(false);
  palette = $state(false);
  /** What the palette begins with: `>` for actions. */
  query = $state("");
  /** The dialog over everything, which is fetched when it is opened, and what it is given. */
  dialog: Opened | undefined = $state.raw();
  /** The dialog in which somebody signs in whose session ended. */
  signIn = $state(false);
  /** Somebody was signed in when the app began. */
  started = false;

  open<Given extends { onclose: () => void }>(
    load: () => Promise<{ default: Component<Given> }>,
    given: Omit<Given, "onclose">,
  ): void {
    const loaded = load as unknown as () => Promise<{ default: Component<Record<string, unknown>> }>;
    this.dialog = { load: async () => ({ Dialog: (await loaded()).default, given }) };
  }

  showKeys(): void {
    this.open(() => import("../parts/KeyList.svelte"), {});
  }

  /** Also what was asked for and is not there yet: its script may still be on its way. */
  close(): void {
    this.side = this.palette = false;
    this.dialog = undefined;
  }

  search(query = ""): void {
    this.query = query;
    this.palette = true;
  }
}

export const frame = new Frame();
