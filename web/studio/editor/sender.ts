/**
 * Saves changes: in this browser immediately, and on the server after a pause. One save runs at a time, and a
 * failed save is retried.
 */
import { ApiError } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import type { SaveState } from "./base.ts";
import { LocalCopy } from "./localcopy.ts";

const IDLE = 800;
const LONGEST = 5_000;
const LONGEST_WAIT = 30_000;

export interface SenderOptions {
  isDirty: () => boolean;
  /** Send unsent text to the server. */
  send: () => Promise<void>;
  /** Store the text in this browser. Rejects if there is no room. */
  keep: () => Promise<unknown>;
  onstate: (state: SaveState) => void;
  onproblem: (problem: ApiError) => void;
}

export class Sender {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #since: number | undefined;
  #sending: Promise<void> | undefined;
  #failures = 0;
  /** The status after the last attempt that failed, if the text is stored in this browser. */
  #failure: "offline" | "maintenance" | "unsaved" = "unsaved";
  #stopped = false;
  #copy: LocalCopy;

  constructor(private options: SenderOptions) {
    this.#copy = new LocalCopy(options.keep, () => this.#tellFailed());
  }

  /** The save status; `nowhere`: closing the tab would lose text. */
  get kept(): "server" | "browser" | "nowhere" {
    if (!this.options.isDirty()) return "server";
    return this.#copy.state === "stored" ? "browser" : "nowhere";
  }

  /** Record a change of the text. */
  changed(): void {
    this.#copy.changed();
    if (!this.options.isDirty()) this.options.onstate({ kind: "saved" });
    else if (!this.#failures) this.#schedule();
    // The status stays that of the last attempt until the next one.
    else this.#tellFailed();
  }

  #schedule(): void {
    this.options.onstate({ kind: "unsaved" });
    this.#since ??= performance.now();
    clearTimeout(this.#timer);
    const left = LONGEST - (performance.now() - this.#since);
    this.#plan(Math.max(0, Math.min(IDLE, left)));
  }

  #plan(wait: number): void {
    if (!this.#stopped) this.#timer = setTimeout(() => void this.flush().catch(() => {}), wait);
  }

  /** Report the status until the next attempt, if the last one failed. */
  #tellFailed(): void {
    if (!this.#failures || this.#sending || !this.options.isDirty()) return;
    const { state } = this.#copy;
    this.options.onstate({
      kind: state === "stored" ? this.#failure : state === "pending" ? "saving" : "unsaved",
    });
  }

  /** Save now. Resolves when all previous changes have arrived. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    while (this.#sending) await this.#sending;
    if (this.#stopped || !this.options.isDirty()) return;
    this.#sending = this.#send().finally(() => (this.#sending = undefined));
    await this.#sending;
  }

  async #send(): Promise<void> {
    const { isDirty, send, onstate } = this.options;
    this.#since = undefined;
    onstate({ kind: "saving" });
    try {
      // If the tab closes before the response, the next one has all changes.
      await this.#copy.keep();
      if (!navigator.onLine) throw new ApiError(0, t("serverCantBeReached"));
      await send();
      this.#failures = 0;
      await this.#copy.keep();
      if (isDirty()) this.#schedule();
      else onstate({ kind: "saved" });
    } catch (problem) {
      const failure = problem instanceof ApiError ? problem : new ApiError(500, String(problem));
      this.#failed(failure);
      throw failure;
    }
  }

  #failed(problem: ApiError): void {
    const { status, reason, retryAfter } = problem;
    this.#failures++;
    this.#failure = status === 0 ? "offline" : reason === "maintenance" ? "maintenance" : "unsaved";
    this.options.onstate({ kind: this.#copy.state === "stored" ? this.#failure : "unsaved" });
    if (status >= 400 && status < 500 && ![408, 425, 429].includes(status)) {
      this.options.onproblem(problem);
      // An error about the text no longer applies once the text has changed.
      if ([400, 404, 412, 413].includes(status)) {
        this.#failures = 0;
        return;
      }
    }
    this.#plan(
      retryAfter !== undefined
        ? retryAfter * 1000
        : Math.min(LONGEST_WAIT, 1000 * 2 ** Math.min(this.#failures, 5)),
    );
  }

  /** Retry immediately, because the network is back or the person signed in. */
  again(): void {
    this.#failures = 0;
    void this.flush().catch(() => {});
  }

  /** Store unsaved changes and stop. */
  async stop(): Promise<void> {
    if (this.options.isDirty()) await this.#copy.keep();
    await this.flush().catch(() => {});
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#copy.stop();
  }
}
