/** A list of the API, loaded page by page. */
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
  /** The number of the newest request. Responses to older ones are ignored. */
  #asked = 0;

  /** `load` returns the page with this key or, without a key, the first one. */
  constructor(readonly load: (page: string | undefined) => Promise<Slice<T>>) {}

  /** Load the list from the start. The current items stay until the response arrives. */
  start(): Promise<void> {
    return this.#read(undefined);
  }

  more(): Promise<void> {
    return this.#read(this.next);
  }

  /** Replace the items, for example after one of them has changed. */
  change(items: (now: T[]) => T[]): void {
    const before = this.items ?? [];
    this.items = items(before);
    if (this.count !== undefined) this.count += this.items.length - before.length;
  }

  async #read(page: string | undefined): Promise<void> {
    const asked = ++this.#asked;
    this.loading = true;
    try {
      // An effect that starts a list should run again when its query changes, not when the list changes.
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
