/**
 * Responses of the API, cached by key. They are shown immediately when requested again, and reloaded in the
 * background. The browser's own cache sends their ETags, so unchanged data costs only a 304 response.
 */
import { createSubscriber } from "svelte/reactivity";
import { forgetResponses } from "../../shared/batching.ts";
import { ApiError } from "../../shared/client.ts";
import { sessionEnded } from "./signin.ts";

const FRESH = 5_000;
const KEPT = 200;

export class Resource<T> {
  #value: T | undefined = $state.raw();
  #readers = 0;
  #read = createSubscriber(() => {
    this.#readers++;
    return () => this.#readers--;
  });
  problem: ApiError | undefined = $state.raw();
  /** The time of the last request; 0 if the data was never requested or is outdated. */
  #asked = 0;
  #running: Promise<T> | undefined;
  #again = false;

  constructor(readonly key: string, readonly load: () => Promise<T>) {}

  get value(): T | undefined {
    this.#read();
    return this.#value;
  }

  set value(found: T | undefined) {
    this.#value = found;
  }

  /** Return whether the data is displayed on the screen. */
  get shown(): boolean {
    return this.#readers > 0;
  }

  /** Store data that the server returned in another response. */
  know(value: T): void {
    this.value = value;
    this.problem = undefined;
    this.#asked = Date.now();
  }

  /** Mark the data as outdated. It is reloaded now if it is displayed, or else when it is displayed next. */
  outdate(): void {
    this.#asked = 0;
    if (this.shown) this.refresh({ force: true }).catch(() => {});
  }

  /** Load the data from the server, unless it has just been loaded. Concurrent calls share a request. */
  refresh({ force = false } = {}): Promise<T> {
    if (this.#running) {
      // The response in progress may not include a change made in the meantime.
      this.#again ||= force;
      return this.#running;
    }
    if (!force && this.value !== undefined && Date.now() - this.#asked < FRESH) {
      return Promise.resolve(this.value);
    }
    this.#asked = Date.now();
    this.#running = this.load().then((found) => {
      this.value = found;
      this.problem = undefined;
      return found;
    }, (problem) => {
      const error = problem instanceof ApiError
        ? problem
        : new ApiError(0, String(problem?.message ?? problem));
      if (error.status === 401) sessionEnded();
      this.problem = error;
      this.#asked = 0;
      throw error;
    }).finally(() => {
      this.#running = undefined;
      if (this.#again) {
        this.#again = false;
        this.refresh({ force: true }).catch(() => {});
      }
    });
    this.#running.catch(() => {});
    return this.#running;
  }

  /** Show a change before the server has it. Returns a function that restores the previous data. */
  guess(change: (value: T) => T): () => void {
    const before = this.value;
    if (before === undefined) return () => {};
    const guessed = change(before);
    this.value = guessed;
    return () => {
      if (this.value === guessed) this.value = before;
      else this.refresh({ force: true }).catch(() => {});
    };
  }
}

const kept = new Map<string, Resource<unknown>>();

/** Create an object with its own state so that the surrounding derivation depends on this state. A derivation
 * doesn't depend on state that it creates itself. */
function apart<T>(make: () => T): T {
  let made: T;
  $effect.root(() => {
    made = make();
  })();
  return made!;
}

/** Return the resource of a key, creating it if needed, and load it if it is outdated. Keys contain IDs or numbers
 * that are never reused. `known`: data from another response. */
export function resource<T>(key: string, load: () => Promise<T>, known?: T): Resource<T> {
  let found = kept.get(key) as Resource<T> | undefined;
  if (found) kept.delete(key);
  else found = apart(() => new Resource(key, load));
  kept.set(key, found as Resource<unknown>);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value as string);
  if (known !== undefined) found.know(known);
  found.refresh().catch(() => {});
  return found;
}

/** Reload all displayed resources whose keys start with this prefix. Others are reloaded when they are displayed
 * next. */
export function refresh(prefix: string): Promise<unknown> {
  const found = [...kept.values()].filter((one) => one.key.startsWith(prefix));
  return Promise.allSettled(found.map((one) => one.shown ? one.refresh({ force: true }) : one.outdate()));
}

/** Mark resources whose keys start with this prefix as outdated. `alone`: whether to mark only the resource whose
 * key equals the prefix. */
export function outdate(prefix: string, { alone = false } = {}): void {
  for (const one of kept.values()) {
    if (alone ? one.key === prefix : one.key.startsWith(prefix)) one.outdate();
  }
}

/** Discard everything, because another person may sign in next. */
export function forget(): void {
  kept.clear();
  forgetResponses();
}

addEventListener("focus", () => {
  for (const one of kept.values()) if (one.shown) one.refresh().catch(() => {});
});
