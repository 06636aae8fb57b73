/** The page that is shown, by its id; its address may be older than its path. */
class Current {
  space: string | undefined = $state();
  page: string | undefined = $state();
  /** A page that was just made: whoever opens it to write names it first. */
  unnamed: string | undefined;

  show(space: string, page: string | undefined): void {
    if (page && page !== this.unnamed) this.unnamed = undefined;
    this.space = space;
    this.page = page;
  }
}

export const current = new Current();
