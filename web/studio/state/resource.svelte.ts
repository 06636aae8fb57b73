/**
 * Answers of the API, kept by their address: shown at once when they are asked for again, and asked for anew behind
 * that. The browser's own cache sends their ETags, so what has not changed costs a 304.
 */
import { createSubscriber } from "svelte/reactivity";
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
  /** When it was asked for last, 0 for never or not fresh any more. */
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

  /** Whether something on the screen shows it. */
  get shown(): boolean {
    return this.#readers > 0;
  }

  /** The server has just said this in another answer. */
  know(value: T): void {
    this.value = value;
    this.problem = undefined;
    this.#asked = Date.now();
  }

  /** What is kept is not true any more: asked for again now where it is shown, else when it is next. */
  outdate(): void {
    this.#asked = 0;
    if (this.shown) this.refresh({ force: true }).catch(() => {});
  }

  /** Asks the server, unless it just did. The one that runs is shared. */
  refresh({ force = false } = {}): Promise<T> {
    if (this.#running) {
      // What was changed meanwhile may not be in the answer that is under way.
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
      const told = problem instanceof ApiError
        ? problem
        : new ApiError(0, String(problem?.message ?? problem));
      if (told.status === 401) sessionEnded();
      this.problem = told;
      this.#asked = 0;
      throw told;
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

  /** Shows a change before the server has it; gives what shows again what was before. */
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

/** Makes something with state of its own so that a derivation in which this happens watches it: what a derivation makes
 * itself, it does not watch. */
function apart<T>(make: () => T): T {
  let made: T;
  $effect.root(() => {
    made = make();
  })();
  return made!;
}

/** The resource of this key, made when it is not there, and asked for if it is not fresh. A key names things by ids or
 * numbers that nothing else ever has. `known`: what another answer has just said of it. */
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

/** Asks anew for all that is shown of what is kept under keys that begin so; for the rest when it is shown next. */
export function refresh(prefix: string): Promise<unknown> {
  const found = [...kept.values()].filter((one) => one.key.startsWith(prefix));
  return Promise.allSettled(found.map((one) => one.shown ? one.refresh({ force: true }) : one.outdate()));
}

/** Something happened to all that is kept under keys that begin so; `alone`: to what is kept under this key. */
export function outdate(prefix: string, { alone = false } = {}): void {
  for (const one of kept.values()) {
    if (alone ? one.key === prefix : one.key.startsWith(prefix)) one.outdate();
  }
}

/** Forgets everything: somebody else may sit here next. */
export const forget = () => kept.clear();

addEventListener("focus", () => {
  for (const one of kept.values()) if (one.shown) one.refresh().catch(() => {});
});
