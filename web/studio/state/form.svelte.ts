/** What a form sends, and what the server says about its fields. */
import { ApiError } from "../../shared/client.ts";

/**
 * What of the settings in a form differs from those that it began with, to be sent: what somebody else changed meanwhile,
 * and nobody touched here, stays as they left it.
 */
export function changed<T extends object>(began: T, now: T): Partial<T> {
  const same = (name: keyof T) => JSON.stringify(began[name]) === JSON.stringify(now[name]);
  return Object.fromEntries(Object.entries(now).filter(([name]) => !same(name as keyof T))) as Partial<T>;
}

export class Form {
  busy = $state(false);
  /** The field that the server refused, and its words; a form that names no such field shows them below. */
  field = $state("");
  problem = $state("");
  readonly #fields: readonly string[];

  /** `fields`: those that show their own errors, as the API names them. */
  constructor(...fields: string[]) {
    this.#fields = fields;
  }

  /** The error of this field, in the server's words. */
  at(field: string): string {
    return this.field === field ? this.problem : "";
  }

  /** The error that belongs to none of the fields. */
  get general(): string {
    return this.field ? "" : this.problem;
  }

  /** Sends, once at a time. Gives whether it was done. */
  async send(work: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.field = this.problem = "";
    try {
      await work();
      return true;
    } catch (problem) {
      const told = problem instanceof Error ? problem : new Error(String(problem));
      // `changes[0].title` belongs to the field `title`.
      const path = told instanceof ApiError ? told.field ?? "" : "";
      this.field = path.match(/\w+/g)?.find((name) => this.#fields.includes(name)) ?? "";
      // Of a list, the message says which one: `emails[3]`.
      const isListed = path.endsWith("]");
      this.problem = this.field && !isListed && told instanceof ApiError ? told.text : told.message;
      return false;
    } finally {
      this.busy = false;
    }
  }
}
