/** The current page by ID, because its URL can be older than its path. */
class Current {
  space: string | undefined = $state();
  page: string | undefined = $state();
  /** The page in which the person will start typing once it is loaded. Until then, single letters don't act as
   * shortcuts. */
  begin: { page: string; at: "title" | "text" } | undefined;
  /** Save what was typed on the page. Resolves when it is in a revision. */
  save: () => Promise<void> = async () => {};

  show(space: string, page: string | undefined): void {
    // The previous page can be shown once more while it is saved, for example because its path changed.
    if (page && page !== this.page && page !== this.begin?.page) this.begin = undefined;
    this.space = space;
    this.page = page;
  }
}

export const current = new Current();
