/** Messages at the bottom of the screen: confirmations with undo, and errors. */
import { ApiError } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";

const SECONDS = 6;

export interface Notice {
  id: number;
  text: string;
  bad: boolean;
  undo?: () => Promise<unknown> | unknown;
  /** An action other than undo: its label and function. */
  action?: { text: string; run: () => unknown };
}

class Notices {
  shown: Notice[] = $state([]);
  #next = 1;
  #timers = new Map<number, ReturnType<typeof setTimeout>>();
  /** The actions that can still be undone with the keyboard, oldest first, even after their messages have
   * disappeared. */
  #undos: Notice[] = [];

  say(text: string, more: Partial<Pick<Notice, "undo" | "action" | "bad">> = {}): void {
    const notice: Notice = { id: this.#next++, text, bad: false, ...more };
    // A repeated message replaces the earlier one.
    this.shown = [...this.shown.filter((one) => one.text !== text).slice(-2), notice];
    if (notice.undo) this.#undos = [...this.#undos.slice(-20), notice];
    this.hold(notice, false);
  }

  /** Show an error with the server's message. */
  fail(problem: unknown, what = ""): void {
    const message = problem instanceof ApiError || problem instanceof Error
      ? problem.message
      : String(problem);
    this.say(what ? `${what} ${message}` : message, { bad: true });
  }

  /** Run an action, and show its error if it fails. */
  async attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (problem) {
      this.fail(problem);
    }
  }

  /** Keep a message visible while it has the pointer or the focus. */
  hold(notice: Notice, held: boolean): void {
    clearTimeout(this.#timers.get(notice.id));
    if (!held) this.#timers.set(notice.id, setTimeout(() => this.close(notice), SECONDS * 1000));
  }

  close(notice: Notice): void {
    clearTimeout(this.#timers.get(notice.id));
    this.shown = this.shown.filter((one) => one.id !== notice.id);
  }

  /** Withdraw all messages, because what they offer to undo has been merged. */
  forget(): void {
    this.#undos = this.shown = [];
  }

  async undo(notice: Notice | undefined = this.#undos.at(-1)): Promise<boolean> {
    if (!notice?.undo) return false;
    this.#undos = this.#undos.filter((one) => one.id !== notice.id);
    this.close(notice);
    try {
      await notice.undo();
    } catch (problem) {
      this.fail(problem, t("couldntUndoChange"));
    }
    return true;
  }
}

export const notices = new Notices();
