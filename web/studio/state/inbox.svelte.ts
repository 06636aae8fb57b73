/** The person's notifications: the number of unread ones, updated live. */
import type { Schemas } from "../../shared/client.ts";
import { countOwnNotifications, updateOwnNotification, updateOwnNotifications } from "../api/inbox.ts";
import { resource } from "./resource.svelte.ts";

export type Notification = Schemas["Notification"];
type State = Notification["state"];

const NAME = "octavo-inbox";

class Inbox {
  /** Incremented on each event, so that lists know when to reload. */
  events = $state(0);
  /** Whether listening has started. Nothing is loaded before the person is known. */
  #started = $state(false);
  #channel = "BroadcastChannel" in globalThis ? new BroadcastChannel(NAME) : undefined;

  get #counts() {
    return resource("inbox/counts", () => countOwnNotifications({}));
  }

  get unread(): number {
    return this.#started ? this.#counts.value?.unread ?? 0 : 0;
  }

  /** Start listening to the server and to other tabs of this browser. */
  start(): void {
    this.#started = true;
    this.#channel?.addEventListener("message", () => this.#look());
    import("./live.svelte.ts").then(({ live }) =>
      live.hear((news) => {
        if (news.kind === "notification" || news.kind === "reset") this.#look();
      })
    );
  }

  #look(): void {
    this.events++;
    this.#counts.refresh({ force: true }).catch(() => {});
  }

  async set(notification: Notification, state: State): Promise<void> {
    this.#guess(notification.state, state);
    await updateOwnNotification({ notificationId: notification.id }, { state }).finally(() =>
      this.#recount()
    );
  }

  /** Mark everything in the inbox up to this time. */
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
