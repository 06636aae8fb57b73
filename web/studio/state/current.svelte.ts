/** The page that is shown, by its id; its address may be older than its path. */
class Current {
  space: string | undefined = $state();
  page: string | undefined = $state();
  /** Where somebody begins to write once the page is there. Until then the letters they type are no commands. */
  begin: { page: string; at: "title" | "text" } | undefined;

  show(space: string, page: string | undefined): void {
    if (page && page !== this.begin?.page) this.begin = undefined;
    this.space = space;
    this.page = page;
  }
}

export const current = new Current();
