/** The state of a form: its submission, and the server's errors for its fields. */
import { ApiError } from "../../shared/client.ts";

/**
 * Return the settings that differ from the initial values. Settings that someone else changed in the meantime, and that
 * weren't edited here, aren't sent.
 */
export function changed<T extends object>(began: T, now: T): Partial<T> {
  const same = (name: keyof T) => JSON.stringify(began[name]) === JSON.stringify(now[name]);
  return Object.fromEntries(Object.entries(now).filter(([name]) => !same(name as keyof T))) as Partial<T>;
}

export class Form {
  busy = $state(false);
  /** The field that the server rejected, and the server's message. A form without that field shows the message below
   * its fields. */
  field = $state("");
  problem = $state("");
  readonly #fields: readonly string[];

  /** `fields`: the fields that show their own errors, by API name. */
  constructor(...fields: string[]) {
    this.#fields = fields;
  }

  /** Return the server's error for this field. */
  at(field: string): string {
    return this.field === field ? this.problem : "";
  }

  /** Return the error that belongs to none of the fields. */
  get general(): string {
    return this.field ? "" : this.problem;
  }

  /** Submit the form, but never twice at the same time. Returns whether this succeeded. */
  async send(work: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.field = this.problem = "";
    try {
      await work();
      return true;
    } catch (problem) {
      const error = problem instanceof Error ? problem : new Error(String(problem));
      // `changes[0].title` belongs to the field `title`.
      const path = error instanceof ApiError ? error.field ?? "" : "";
      this.field = path.match(/\w+/g)?.find((name) => this.#fields.includes(name)) ?? "";
      // For lists, the message contains the index: `emails[3]`.
      const isListed = path.endsWith("]");
      this.problem = this.field && !isListed && error instanceof ApiError ? error.text : error.message;
      return false;
    } finally {
      this.busy = false;
    }
  }
}
