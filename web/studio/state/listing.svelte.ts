/** A list of the API, page by page: what is shown of it, and how it goes on. */
import { untrack } from "svelte";
import { ApiError } from "../../shared/client.ts";
import { sessionEnded } from "./signin.ts";

interface Slice<T> {
  items: T[];
  next?: { page: string };
  count?: number;
}

export class Listing<T> {
  items: T[] | undefined = $state.raw();
  count: number | undefined = $state();
  next: string | undefined = $state();
  problem = $state("");
  loading = $state(false);
  /** Which request is the newest: answers of older ones come too late. */
  #asked = 0;

  /** `load` gives the page that this key names, the first one without a key. */
  constructor(readonly load: (page: string | undefined) => Promise<Slice<T>>) {}

  /** Asks for the list from its beginning. What is shown stays until the answer is there. */
  start(): Promise<void> {
    return this.#read(undefined);
  }

  more(): Promise<void> {
    return this.#read(this.next);
  }

  /** Shows other items in place of these, such as after one of them was changed. */
  change(items: (now: T[]) => T[]): void {
    const before = this.items ?? [];
    this.items = items(before);
    if (this.count !== undefined) this.count += this.items.length - before.length;
  }

  async #read(page: string | undefined): Promise<void> {
    const asked = ++this.#asked;
    this.loading = true;
    try {
      // Whoever starts a list in an effect starts it anew where its question changes, not where it does itself.
      const found = await this.load(page);
      if (asked !== this.#asked) return;
      this.items = page === undefined ? found.items : [...untrack(() => this.items ?? []), ...found.items];
      this.next = found.next?.page;
      this.count = found.count;
      this.problem = "";
    } catch (problem) {
      if (asked !== this.#asked) return;
      if (problem instanceof ApiError && problem.status === 401) sessionEnded();
      this.problem = (problem as Error).message;
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }
}
