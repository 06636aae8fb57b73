/** The current page by id; its URL can be older than its path. */
class Current {
  space: string | undefined = $state();
  page: string | undefined = $state();
  /** The person will start typing once the page is loaded. Until then, letters aren't shortcuts. */
  begin: { page: string; at: "title" | "text" } | undefined;

  show(space: string, page: string | undefined): void {
    // The page before can be shown once more while it's saved, for example because its path changed.
    if (page && page !== this.page && page !== this.begin?.page) this.begin = undefined;
    this.space = space;
    this.page = page;
  }
}

export const current = new Current();
