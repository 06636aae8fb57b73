/**
 * Live events from the server, and other people's locations. A tab has one stream, for its person and the current
 * space. The stream is closed while the tab is hidden for a long time; when it reconnects, it receives the missed
 * events. Without a stream, each screen polls what it shows.
 */
import type { Schemas } from "../../shared/client.ts";
import { listPresenceInSpace } from "../api/organizations.ts";
import type { Base } from "../editor/base.ts";
import { newId } from "./ids.ts";
import { outdate } from "./resource.svelte.ts";
import { session } from "./session.svelte.ts";
import { onSignedIn } from "./signin.ts";

/** An event of the API, with the fields of all its types. */
export interface News {
  kind:
    | "revision"
    | "review"
    | "comment"
    | "presence"
    | "notification"
    | "ready"
    | "reset"
    | "closed"
    | "steps"
    | "caret"
    | "saved"
    | "live-reset";
  spaceId?: string;
  changeRequestId?: string;
  user?: { id: string; displayName: string; photoURL?: string };
  action?: string;
  revisionId?: string;
  /** The pages that a revision changed; undefined if there are too many to list. */
  pageIds?: string[];
  pageId?: string | null;
  /** The thread of a comment or reply. */
  commentId?: string;
  clientId?: string;
  activity?: "viewing" | "editing" | "left";
  code?: number;
  /** For a page with live editing, other people's changes and carets. */
  batches?: Schemas["Batch"][];
  version?: number;
  revision?: string;
  refused?: string[];
  /** Whether the revision is a save of a page that is edited live. */
  live?: boolean;
  client?: string;
  anchor?: number | null;
  head?: number | null;
}

export interface Visitor {
  client: string;
  user: { id: string; displayName: string; photoURL?: string };
  page: string | null;
  editing: boolean;
  change?: string;
}

const KINDS: News["kind"][] = [
  "revision",
  "review",
  "comment",
  "presence",
  "notification",
  "ready",
  "reset",
  "closed",
  "steps",
  "caret",
  "saved",
  "live-reset",
];
const HIDDEN = 60_000;
const LONGEST = 60_000;
const RENEWED = 30_000;
/** Half the number of milliseconds before a failed report of the person's location is first retried. */
const RETRIED = 500;
/** The maximum number of milliseconds between the event for a save of this tab and the response to the save. */
const OWN = 1500;

type Listener = (news: News) => void;

class Live {
  /** Whether events arrive live. */
  connected = $state(false);
  #space: string | undefined;
  #page: string | undefined;
  #source: EventSource | undefined;
  #last: string | undefined;
  #failures = 0;
  #again: ReturnType<typeof setTimeout> | undefined;
  #leaving: ReturnType<typeof setTimeout> | undefined;
  #listeners = new Set<Listener>();
  #made = new Set<string>();
  #making = 0;
  #isFollowing = false;

  constructor() {
    document.addEventListener("visibilitychange", () => {
      clearTimeout(this.#leaving);
      if (document.visibilityState === "visible") this.#open();
      else this.#leaving = setTimeout(() => this.#close(), HIDDEN);
    });
    addEventListener("pagehide", () => this.#close());
    addEventListener("pageshow", () => this.#open());
    const again = (): void => {
      this.#failures = 0;
      this.#open();
    };
    addEventListener("online", again);
    onSignedIn(again);
  }

  /** Subscribe to the events of this space. */
  follow(space: string | undefined): void {
    if (this.#source && space === this.#space) return;
    this.#isFollowing = true;
    this.#space = space;
    this.#reopen();
  }

  /**
   * Subscribe to changes in this page until the returned function is called. The page is `{change request}/{page}`
   * or, on main, `{space}/{page}`.
   */
  edit(page: string): () => void {
    this.#page = page;
    this.#reopen();
    return () => {
      if (this.#page !== page) return;
      this.#page = undefined;
      this.#reopen();
    };
  }

  #reopen(): void {
    this.#close();
    this.#open();
  }

  /** Call a function with each event, except revisions from this tab, until the returned function is called. */
  hear(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Await a response that may create a revision. Until the response arrives, it is unknown whether a revision is
   * from this tab. */
  async making<Made>(response: Promise<Made>): Promise<Made> {
    this.#making++;
    try {
      return await response;
    } finally {
      this.#making--;
    }
  }

  /** Record that this tab created a revision and already shows it. */
  made(revision: string): void {
    this.#made.add(revision);
    if (this.#made.size > 200) this.#made.delete(this.#made.values().next().value!);
  }

  #open(): void {
    clearTimeout(this.#again);
    // The space is unknown until a screen is shown.
    if (!this.#isFollowing || this.#source || document.visibilityState === "hidden") return;
    const query = new URLSearchParams();
    if (this.#space) query.set("space", this.#space);
    if (this.#page) query.set("live", this.#page);
    if (this.#last) query.set("after", this.#last);
    const source = new EventSource(`/v1/user/events?${query}`);
    this.#source = source;
    for (const kind of KINDS) {
      source.addEventListener(kind, (event) => {
        if (event.lastEventId) this.#last = event.lastEventId;
        this.#receive(JSON.parse(event.data) as News);
      });
    }
    source.onerror = () => {
      this.connected = false;
      // The browser doesn't retry after an error response.
      if (source.readyState === EventSource.CLOSED && this.#source === source) this.#retry();
    };
  }

  #close(): void {
    clearTimeout(this.#again);
    this.#source?.close();
    this.#source = undefined;
    this.connected = false;
  }

  #retry(): void {
    this.#close();
    const wait = Math.min(LONGEST, 2000 * 2 ** this.#failures++);
    this.#again = setTimeout(() => this.#open(), wait * (0.75 + Math.random() / 2));
  }

  #receive(news: News): void {
    if (news.kind === "ready") {
      this.connected = true;
      this.#failures = 0;
    } else if (news.kind === "closed") {
      this.#retry();
      // The handler checks whether the person is still signed in.
      session.user.refresh({ force: true }).catch(() => {});
    } else if (news.kind === "revision" && !news.live && news.user?.id === session.user.value?.id) {
      const tell = (): void => {
        if (this.#made.has(news.revisionId!)) return;
        if (this.#making) setTimeout(tell, OWN);
        else this.#tell(news);
      };
      setTimeout(tell, OWN);
      return;
    }
    this.#tell(news);
  }

  /** Return whether an event concerns only the page that is being edited in this tab. */
  #edits({ changeRequestId, pageIds }: News): boolean {
    return pageIds !== undefined && pageIds.every((page) => this.#page === `${changeRequestId}/${page}`);
  }

  #tell(news: News): void {
    const space = `space/${news.spaceId}`;
    if (news.kind === "revision" && news.changeRequestId === undefined) {
      for (const below of ["/main/", "/revisions"]) outdate(space + below);
      outdate("favorites");
      outdate(`${space}/`, { alone: true });
    } else if (news.kind === "revision") {
      // The editor refreshes what its own saves change.
      if (!news.live || !this.#edits(news)) outdate(`${space}/changes/`);
    } else if (news.kind === "review") {
      for (const below of ["/changes/", "/list"]) outdate(space + below);
      outdate(`${space}/`, { alone: true });
      outdate("org/");
    } else if (news.kind === "comment") {
      outdate(`${space}/talk/`);
      outdate(`${space}/`, { alone: true });
    } else if (news.kind === "notification") outdate("user/");
    else if (news.kind === "reset") { for (const all of ["space/", "org/", "user/"]) outdate(all); }
    for (const listener of this.#listeners) listener(news);
  }
}

export const live = new Live();

/** Other people in a space, and this person's location. */
class Presence {
  visitors: Visitor[] = $state.raw([]);
  #client = newId();
  #space: string | undefined;
  #said: { space: string; base: Base; page: string; editing: boolean } | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  #wait = RETRIED;
  /** The number of times that other people have joined, moved, or left. */
  #moves = 0;
  /** Whether the server knows that the person is present. */
  #announced = false;

  constructor() {
    live.hear((news) => {
      if (news.kind === "presence" && news.spaceId === this.#space) this.#moved(news);
      else if (news.kind === "reset" || news.kind === "ready") void this.#list();
    });
    addEventListener("pagehide", () => this.#leave());
    document.addEventListener("visibilitychange", () => void this.#say());
  }

  /** Show the person as present on a page until the returned function is called. */
  attend(space: string, base: Base, page: string, editing: boolean): () => void {
    if (base.kind === "revision") return () => {};
    const said = this.#said = { space, base, page, editing };
    if (this.#space !== space) {
      this.#space = space;
      this.visitors = [];
      if (live.connected) void this.#list();
    }
    clearInterval(this.#timer);
    this.#timer = setInterval(() => void this.#say(), RENEWED);
    // People who leave the page again at once aren't shown.
    const soon = setTimeout(() => void this.#say(), 600);
    return () => {
      clearTimeout(soon);
      if (this.#said !== said) return;
      this.#leave();
      clearInterval(this.#timer);
    };
  }

  /** Return the other people on a page, each once. `change`: the ID of a change request; null returns only those on
   * main. */
  at(page: string, change?: string | null): Visitor[] {
    const own = session.user.value?.id;
    const found = new Map<string, Visitor>();
    for (const one of this.visitors) {
      if (one.page !== page || one.user.id === own) continue;
      if (change !== undefined && one.change !== (change ?? undefined)) continue;
      if (!found.get(one.user.id)?.editing) found.set(one.user.id, one);
    }
    return [...found.values()];
  }

  /** Return the other people who edit a page in change requests, the latest first. */
  inChanges(page: string): (Visitor & { change: string })[] {
    const own = session.user.value?.id;
    const edits = (one: Visitor): one is Visitor & { change: string } =>
      one.page === page && one.editing && !!one.change && one.user.id !== own;
    return this.visitors.filter(edits).toReversed();
  }

  #address(): string {
    const { space, base } = this.#said!;
    const below = base.kind === "change" ? `/change-requests/${base.number}` : "";
    return `/v1/spaces/${space}${below}/presence/${this.#client}`;
  }

  async #say(): Promise<void> {
    if (!this.#said || document.visibilityState === "hidden" || !navigator.onLine) return;
    const { page, editing } = this.#said;
    this.#announced = true;
    clearTimeout(this.#again);
    // The person isn't told about a failure, because it has no consequences for them.
    const isDone = await fetch(this.#address(), {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ page, activity: editing ? "editing" : "viewing" }),
    }).then(({ status }) => status < 500 && status !== 429, () => false);
    if (isDone) this.#wait = RETRIED;
    // Later, the regular report comes first.
    else if (this.#wait < RENEWED) this.#again = setTimeout(() => this.#say(), this.#wait *= 2);
  }

  #leave(): void {
    if (!this.#said) return;
    if (this.#announced) {
      void fetch(this.#address(), { method: "DELETE", keepalive: true }).catch(() => {});
    }
    clearTimeout(this.#again);
    this.#announced = false;
    this.#said = undefined;
  }

  async #list(again = true): Promise<void> {
    const [space, moves] = [this.#space, this.#moves];
    if (!space) return;
    const found = await listPresenceInSpace({ spaceId: space }, { limit: 100 }).catch(() => undefined);
    if (!found || space !== this.#space) return;
    // The list may be older than events that arrived in the meantime.
    if (again && moves !== this.#moves) return this.#list(false);
    this.visitors = found.items.map((one: Schemas["Presence"]) => ({
      client: one.id,
      user: one.user,
      page: one.page,
      editing: one.activity === "editing",
      change: one.changeRequestId,
    }));
  }

  #moved(news: News): void {
    if (news.clientId !== this.#client) this.#moves += 1;
    const others = this.visitors.filter((one) =>
      one.client !== news.clientId || one.user.id !== news.user?.id
    );
    this.visitors = news.activity === "left" || !news.user ? others : [...others, {
      client: news.clientId!,
      user: news.user,
      page: news.pageId ?? null,
      editing: news.activity === "editing",
      change: news.changeRequestId,
    }];
  }
}

export const presence = new Presence();
