/** What of the frame is open: the navigation where it folds, the palette, the list of keys. */
class Frame {
  /** The navigation, over the sheet; only where there is no room beside it. */
  side = $state(false);
  palette = $state(false);
  /** What the palette begins with: `>` for actions. */
  query = $state("");
  keys = $state(false);
  /** The dialog that makes a site, with the spaces that are chosen in it. */
  site: string[] | undefined = $state.raw();
  /** The dialog in which somebody signs in whose session ended. */
  signIn = $state(false);
  /** Somebody was signed in when the app began. */
  started = false;

  /** Also what was asked for and is not there yet: its script may still be on its way. */
  close(): void {
    this.side = this.palette = this.keys = false;
  }

  search(query = ""): void {
    this.query = query;
    this.palette = true;
  }
}

export const frame = new Frame();
