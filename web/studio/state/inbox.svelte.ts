/** What concerns whoever is here: how much is new, told as it happens. */
import type { Schemas } from "../../shared/client.ts";
import { countOwnNotifications, updateOwnNotification, updateOwnNotifications } from "../api/inbox.ts";
import { resource } from "./resource.svelte.ts";

export type Notification = Schemas["Notification"];
type State = Notification["state"];

const NAME = "octavo-inbox";
const POLL = 60_000;

class Inbox {
  /** Counts what was told, so that lists know when to look again. */
  told = $state(0);
  /** Nothing is asked before it is known who is here. */
  #started = $state(false);
  #channel = "BroadcastChannel" in globalThis ? new BroadcastChannel(NAME) : undefined;

  get #counts() {
    return resource("inbox/counts", () => countOwnNotifications({}));
  }

  get unread(): number {
    return this.#started ? this.#counts.value?.unread ?? 0 : 0;
  }

  /** Listens from now on. One tab of a browser holds the stream and tells the others: a browser has few connections. */
  start(): void {
    this.#started = true;
    this.#channel?.addEventListener("message", () => this.#look());
    if (!navigator.locks) {
      setInterval(() => this.#look(), POLL);
      return;
    }
    navigator.locks.request(NAME, () =>
      new Promise<void>((done) => {
        const stream = new EventSource("/v1/user/events");
        stream.addEventListener("notification", () => this.#say());
        stream.addEventListener("reset", () => this.#say());
        stream.addEventListener("error", () => {
          if (stream.readyState === EventSource.CLOSED) done();
        });
      }));
  }

  /** Asks anew, here and in other tabs: something is new, or was changed here. */
  #say(): void {
    this.#channel?.postMessage("");
    this.#look();
  }

  #look(): void {
    this.told++;
    this.#counts.refresh({ force: true }).catch(() => {});
  }

  async set(notification: Notification, state: State): Promise<void> {
    this.#guess(notification.state, state);
    await updateOwnNotification({ notificationId: notification.id }, { state }).finally(() =>
      this.#recount()
    );
  }

  /** All in the inbox that were there at this moment. */
  async setAll(state: State, until: string): Promise<void> {
    await updateOwnNotifications({}, { state, until }).finally(() => this.#recount());
  }

  #guess(before: State, after: State): void {
    const step = Number(after === "unread") - Number(before === "unread");
    this.#counts.guess((now) => ({ ...now, unread: Math.max(0, now.unread + step) }));
  }

  #recount(): void {
    this.#channel?.postMessage("");
    this.#counts.refresh({ force: true }).catch(() => {});
  }
}

export const inbox = new Inbox();
