/** Stores unsent changes in this browser shortly after each change, and knows whether the latest ones are stored. */
const WAIT = 60;

export class LocalCopy {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #latest = 0;
  #stored = 0;
  #failed = false;

  /** `store`: stores the current changes, and rejects if there is no room. `ontold`: called after each attempt. */
  constructor(private store: () => Promise<unknown>, private ontold: () => void) {}

  /** `pending`: the latest changes will be stored in a moment. `failed`: there is no room for them. */
  get state(): "stored" | "pending" | "failed" {
    return this.#failed ? "failed" : this.#stored === this.#latest ? "stored" : "pending";
  }

  /** Record a change. */
  changed(): void {
    this.#latest++;
    this.#timer ??= setTimeout(() => void this.keep(), WAIT);
  }

  /** Store the current changes now. Never rejects. */
  async keep(): Promise<void> {
    this.stop();
    const latest = this.#latest;
    try {
      await this.store();
      this.#stored = Math.max(this.#stored, latest);
      this.#failed = false;
    } catch {
      this.#failed = true;
    }
    this.ontold();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
