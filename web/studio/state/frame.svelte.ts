import type { Component } from "svelte";

interface Opened {
  /** Load the dialog. It keeps its properties until its closing animation ends. */
  load: () => Promise<{ Dialog: Component<Record<string, unknown>>; given: Record<string, unknown> }>;
}

/** The open parts of the app's frame: the collapsible navigation, the palette, and a dialog. */
class Frame {
  /** Whether the navigation is open as an overlay, which happens only if there is no room next to the sheet. */
  side = $state(false);
  palette = $state(false);
  /** The palette's initial text: `>` for actions. */
  query = $state("");
  /** The dialog above everything else, which is loaded when it opens, and its properties. */
  dialog: Opened | undefined = $state.raw();
  /** Whether the dialog is open that asks the person to sign in again after the session expired. */
  signIn = $state(false);
  /** Whether the person was signed in when the app started. */
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

  /** Close the open parts, including a dialog that is still loading. */
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
