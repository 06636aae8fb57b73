/**
 * A page that several people edit at once: sends local changes, applies changes of others, and stores changes in this
 * browser until the server has them.
 */
import type { Node } from "prosemirror-model";
import { EditorState, type Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { api, ApiError, ask, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { schema } from "../document/schema.ts";
import { table } from "../document/table.ts";
import { writeBlock } from "../document/convert.ts";
import { live, type News } from "../state/live.svelte.ts";
import type { BlockJson } from "../document/types.ts";
import { IN_MAIN, type SaveState } from "./base.ts";
import { LocalCopy } from "./localcopy.ts";
import { readInput } from "./pendinginput.ts";
import { type KeptPage, restore, typedBlocks, withWritten } from "./storedpage.ts";
import { standing } from "./rescue.ts";
import { type Batch, REMOTE, type Rescue, Together, wellFormed } from "./together.ts";

/** The number of milliseconds for which typing is collected before it is sent. The server accepts 20 batches per
 * second from one person. */
const GATHER = 50;
/** The number of milliseconds to wait for a response before a batch counts as unanswered. */
const ANSWER = 30_000;
/** The number of milliseconds without a confirmation after which the status changes to unsaved. */
const SLOW = 3_000;
/** The minimum number of incoming steps that are announced when they arrive at once. */
const MANY = 200;
/** The interval in milliseconds at which the caret is sent while nothing is typed. */
const CARET = 200;
const LONGEST = 30_000;
/** The interval in milliseconds at which changes are requested if there is no event stream. */
const LOOK = 2_000;
/** The size of the JSON of blocks whose Markdown the server stores as one text. */
const MOST_ASIDE = 100_000;
const RELOADED = "octavo-reloaded";

export interface LivePlace {
  space: string;
  /** The number of the change request, or `IN_MAIN`. */
  change: number;
  page: string;
}

export interface LiveOptions extends LivePlace {
  /** The name of this tab, which is also the client's name. */
  tab: string;
  /** The ID of the person. */
  user: string | null;
  /** The ID of the change request whose events are followed, or of the space for main. */
  followed: string;
  opened: Schemas["LiveDocument"];
  /** The changes of another tab that has closed. */
  kept?: KeptPage;
  /** Store the page in this browser; rejects if there is no room. */
  keep: (kept: KeptPage | undefined) => Promise<unknown>;
  onstate: (state: SaveState) => void;
  onproblem: (problem: Error) => void;
  /** Called if a block was restored after a person deleted it; `by`: that person's ID. */
  onrestored: (key: string, by: string | undefined) => void;
  /** Called if the server has text that couldn't be placed. */
  onaside: () => void;
  oncaret: (caret: Schemas["Caret"]) => void;
  /** Called when the page was saved, except blocks with these keys, which can't be saved; the page's ID if the whole page
   * is too large. */
  onsaved: (refused: readonly string[]) => void;
  /** Called when the server accepts no more changes. Unsent ones are left for another tab. */
  onend: () => void;
}

const pathOf = ({ space, change, page }: LivePlace) => ({
  path: { spaceId: space, changeRequestId: String(change), pageId: page },
});

const LIVE = "/spaces/{spaceId}/change-requests/{changeRequestId}/pages/{pageId}/live";
const MAIN = "/spaces/{spaceId}/pages/{pageId}/live";
/** Return the API path for live editing of a page. Its operations have the same parameters and responses for main
 * and change requests. */
const liveOf = ({ change }: LivePlace) => (change === IN_MAIN ? MAIN as unknown : LIVE) as typeof LIVE;

export function openLive(place: LivePlace): Promise<Schemas["LiveDocument"]> {
  return ask(api.GET(liveOf(place), { params: pathOf(place), signal: AbortSignal.timeout(ANSWER) }));
}

export class LivePage {
  #together: Together;
  #epoch: string;
  /** The document at a version and the batches since, so that the whole page isn't stored each time. */
  #start: Pick<KeptPage, "version" | "document" | "batches">;
  #aside: KeptPage["aside"];
  #setting: Promise<void> | undefined;
  #saved: number;
  #isTooLarge: boolean;
  /** Whether the restored changes belong to another order of steps. */
  #isOutdated: boolean;
  #view: EditorView | undefined;
  #state: EditorState | undefined;
  #known: Promise<void> | undefined;
  #posting: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The time when the timer sends the next batch. */
  #due = Infinity;
  #slow: ReturnType<typeof setTimeout> | undefined;
  #telling: ReturnType<typeof setTimeout> | undefined;
  /** Whether the caret moved since its position was last sent to others. */
  #hasMoved = false;
  #failures = 0;
  #offline = false;
  #maintained = false;
  #since: number | undefined;
  #catching = false;
  #copy = new LocalCopy(() => this.#store(), () => this.#stopped || this.#tell());
  /** Whether the server accepts no more changes. */
  #ended = false;
  #stopped = false;
  #ends: (() => void)[] = [];
  #path: typeof LIVE;

  constructor(private options: LiveOptions) {
    const { opened, kept, tab, user } = options;
    this.#path = liveOf(options);
    this.#epoch = opened.epoch;
    this.#saved = opened.savedVersion;
    this.#isTooLarge = opened.refused.includes(options.page);
    this.#aside = kept?.aside ?? [];
    this.#start = { version: opened.version, document: opened.document, batches: [] };
    const isCurrent = kept?.epoch === opened.epoch;
    // In another order of steps, the client of the stored batch and the sent steps are unknown.
    const restored = kept &&
      this.#restore(isCurrent ? kept : { ...kept, own: { ...kept.own, sent: 0 } }, tab);
    if (isCurrent && restored) {
      this.#start = { version: kept!.version, document: kept!.document, batches: kept!.batches };
    }
    this.#isOutdated = restored !== undefined && !isCurrent;
    this.#together = restored ??
      new Together(
        tab,
        opened.version,
        schema.nodeFromJSON(opened.document),
        (rescue) => this.#rescued(rescue),
        user,
      );
  }

  /** Return the stored changes of a tab; undefined if they can't be applied, for example because another version of the
   * app stored them. Their text is then set aside. */
  #restore(kept: KeptPage, tab?: string): Together | undefined {
    try {
      return restore(kept, (rescue) => this.#rescued(rescue), tab, this.options.user);
    } catch (problem) {
      console.error(problem);
      const nodes = typedBlocks(kept);
      if (nodes.length) this.#aside.push({ nodes, why: "place-gone" });
      return undefined;
    }
  }

  get doc(): Node {
    return this.#together.doc;
  }

  get client(): string {
    return this.#together.client;
  }

  attach(view: EditorView): void {
    const { opened, kept, followed, page } = this.options;
    this.#view = view;
    if (this.#isOutdated) this.#move(opened);
    // Without an event stream, changes are requested regularly.
    const timer = setInterval(() => {
      if (!live.connected && document.visibilityState === "visible") void this.#ask().catch(() => {});
    }, LOOK);
    this.#ends.push(
      live.edit(`${followed}/${page}`),
      live.hear((news) => this.#hear(news)),
      () => clearInterval(timer),
    );
    if (kept) this.again();
  }

  /** Record a change of the document, local or by others. */
  changed(transaction: Transaction): void {
    if (transaction.getMeta(REMOTE)) return;
    this.#together.written(transaction);
    const spared = this.#together.spared(this.#view!.state);
    if (spared) this.#view!.dispatch(spared);
    this.#since ??= performance.now();
    this.#copy.changed();
    this.#plan(GATHER);
    this.#tell();
  }

  /** Record that the caret moved without an edit. */
  moved(): void {
    this.#hasMoved = true;
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      this.#tellCaret();
    }, CARET);
  }

  /** Tell others where the caret is, if it moved. While an edit is being saved, the server has other positions. */
  #tellCaret(): void {
    if (!this.#hasMoved || this.dirty || this.#stopped || this.#ended || !navigator.onLine) return;
    this.#hasMoved = false;
    const { client, version } = this.#together;
    const body = { client, version, ...this.#caret() };
    void api.PUT(`${this.#path}/caret`, { params: pathOf(this.options), body }).catch(() => {});
  }

  /** Remove the caret, which other tabs and people would otherwise see for another minute. */
  #leave(client = this.client): void {
    if (this.#ended || !navigator.onLine) return;
    const { version } = this.#together;
    const body = { client, version, anchor: null, head: null };
    void api.PUT(`${this.#path}/caret`, { params: pathOf(this.options), body }).catch(() => {});
  }

  #caret(): { anchor: number; head: number } {
    const { anchor, head } = (this.#state ?? this.#view!.state).selection;
    return { anchor, head };
  }

  /** Map a position that another client sent to the current document. */
  placeOf(place: number): number {
    return this.#together.pending.reduce((at, { step }) => step.getMap().map(at), place);
  }

  get dirty(): boolean {
    return this.#together.pending.length > 0;
  }

  /** The save status. `nowhere`: closing the tab would lose text. */
  get kept(): "server" | "browser" | "nowhere" {
    if (!this.dirty && !this.#aside.length) return "server";
    return this.#copy.state === "stored" ? "browser" : "nowhere";
  }

  /** Send all changes. Resolves when they are in a revision of the change request. */
  async flush(): Promise<void> {
    if (this.dirty) await this.#post();
    if (this.#ended || this.#together.version <= this.#saved) return;
    try {
      const found = await ask(api.POST(`${this.#path}/save`, { params: pathOf(this.options) }));
      this.#isSaved(found.version, found.refused);
    } catch (problem) {
      if (problem instanceof ApiError && problem.status === 413) this.#isSaved(0, [this.options.page]);
      throw problem;
    }
  }

  /** Retry immediately, because the network is back or the person signed in. */
  again(): void {
    this.#failures = 0;
    void this.#ask().catch(() => {});
    void this.#putAside();
    if (this.dirty) this.#plan(0);
    else this.#tell();
  }

  /** Record that the network is unavailable. */
  offline(): void {
    this.#tell();
  }

  /** Apply the changes of another tab, as if typed now. */
  async adopt(kept: KeptPage): Promise<void> {
    const other = this.#restore(kept);
    if (other) {
      let state = EditorState.create({ doc: other.doc });
      if (kept.epoch === this.#epoch) {
        // Some of the changes may have arrived on the server.
        const found = await this.#stepsAfter(kept.own.version).catch((problem) => {
          if (problem instanceof ApiError && problem.status === 410) return undefined;
          throw problem;
        });
        const news = found && other.receive(state, found.batches);
        if (news) state = state.apply(news);
      }
      const adopted = this.#stopped ? undefined : withWritten(other, state, this.#shown);
      if (adopted) this.#view!.dispatch(adopted);
    }
    this.#aside.push(...kept.aside);
    await this.#copy.keep();
    void this.#putAside();
  }

  /** Store unsent changes, send them once more, and stop. */
  async stop(): Promise<void> {
    this.#state = this.#view?.state;
    this.#stopped = true;
    for (const end of this.#ends.splice(0)) end();
    await this.#copy.keep();
    await this.flush().catch(() => {});
    for (const timer of [this.#timer, this.#slow, this.#telling]) clearTimeout(timer);
    this.#leave();
  }

  // --- receiving ---

  #hear(news: News): void {
    if (news.kind === "ready") void this.#ask().catch(() => {});
    else if (news.kind === "live-reset") this.#startAgain();
    else if (news.kind === "saved") {
      this.#isSaved(news.version!, news.refused);
    } else if (news.kind === "steps") this.#take(news.batches!);
    else if (news.kind === "caret" && (news.client !== this.client || news.user?.id !== this.options.user)) {
      this.options.oncaret(news as Schemas["Caret"]);
    }
  }

  #isSaved(version: number, refused: readonly string[] = []): void {
    this.#saved = Math.max(this.#saved, version);
    this.#isTooLarge = refused.includes(this.options.page);
    this.options.onsaved(refused);
    this.#tell();
  }

  #apply(transaction: Transaction | undefined): void {
    if (!transaction) return;
    if (this.#stopped) this.#state = this.#state!.apply(transaction);
    else this.#view!.dispatch(transaction);
  }

  get #shown(): EditorState {
    return this.#stopped ? this.#state! : readInput(this.#view!);
  }

  /** Apply batches that follow the current version. If batches before them are missing, request these. */
  #take(batches: Batch[]): void {
    const fresh = batches.filter(({ version }) => version > this.#together.version);
    if (!fresh.length || !this.#view) return;
    if (this.#view.composing) {
      // Text in an input method would be lost if the document changed now.
      setTimeout(() => this.#take(batches), 100);
      return;
    }
    if (fresh[0]!.version - fresh[0]!.steps.length > this.#together.version) {
      void this.#ask().catch(() => {});
      return;
    }
    try {
      this.#apply(this.#together.receive(this.#shown, fresh));
    } catch (problem) {
      // The local document differs from the server's: start again from the server's.
      console.error(problem);
      this.#startAgain();
      return;
    }
    const { batches: known } = this.#start;
    known.push(...fresh);
    if (known.reduce((sum, { steps }) => sum + steps.length, 0) > MANY) this.#begin();
    this.#tell();
  }

  #begin(): void {
    const { version, base } = this.#together;
    this.#start = { version, document: base.toJSON(), batches: [] };
  }

  async #stepsAfter(after: number): Promise<Schemas["BatchesAfter"]> {
    const found: Schemas["BatchesAfter"] = { version: after, batches: [] };
    for (let last = after, more = true; more;) {
      const query = { epoch: this.#epoch, after: last };
      const params = { ...pathOf(this.options), query };
      const next = await ask(api.GET(`${this.#path}/steps`, { params, signal: AbortSignal.timeout(ANSWER) }));
      found.batches.push(...next.batches);
      found.version = next.version;
      const end = next.batches.at(-1)?.version;
      more = end !== undefined && end < next.version;
      last = end ?? last;
    }
    return found;
  }

  /** Request the changes since the current version. */
  #ask(): Promise<void> {
    this.#known ??= this.#catchUp().finally(() => (this.#known = undefined));
    return this.#known;
  }

  async #catchUp(): Promise<void> {
    if (this.#ended) return;
    try {
      const { version, batches } = await this.#stepsAfter(this.#together.version);
      this.#catching = version - this.#together.version > MANY;
      if (this.#catching) this.#tell();
      this.#take(batches);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      if (problem.status === 410) await this.#reload();
      else if (isFinal(problem)) this.#end(problem);
    } finally {
      this.#catching = false;
      this.#tell();
    }
  }

  /** Continue from the server's document, because the steps since then are unknown or one of them can't be applied. */
  async #reload(): Promise<void> {
    this.#move(await openLive(this.options));
  }

  /** Reload in the background. If the server can't be reached, the next request finds out again that this is needed. */
  #startAgain(): void {
    void this.#reload().catch((problem) => {
      if (!(problem instanceof ApiError) || isFinal(problem)) this.#end(problem);
    });
  }

  #move(opened: Schemas["LiveDocument"]): void {
    this.#epoch = opened.epoch;
    this.#saved = opened.savedVersion;
    this.#isSaved(opened.savedVersion, opened.refused);
    this.#apply(this.#together.moved(this.#shown, opened.version, schema.nodeFromJSON(opened.document)));
    this.#start = { version: opened.version, document: opened.document, batches: [] };
    if (this.dirty) this.#plan(0);
    void this.#copy.keep();
    this.#tell();
  }

  // --- sending ---

  #plan(wait: number): void {
    if (this.#posting || this.#ended || this.#failures && wait) return;
    // Keys in quick succession don't delay it.
    if (performance.now() + wait < this.#due) this.#postIn(wait);
  }

  #postIn(wait: number): void {
    clearTimeout(this.#timer);
    this.#due = performance.now() + wait;
    this.#timer = setTimeout(() => void this.#post().catch(() => {}), wait);
  }

  #post(): Promise<void> {
    clearTimeout(this.#timer);
    this.#due = Infinity;
    this.#posting ??= this.#sendAll().finally(() => {
      this.#posting = undefined;
      // Changes made while the sent ones were stored in this browser.
      if (this.dirty && !this.#failures) this.#plan(0);
      else this.#tellCaret();
    });
    return this.#posting;
  }

  async #sendAll(): Promise<void> {
    try {
      while (this.dirty && !this.#ended) {
        const next = performance.now() + GATHER;
        await this.#sendNext();
        // The response is applied once the input method has its text; until then, each attempt would get the same.
        while (this.#together.sent && this.#view?.composing && !this.#stopped) {
          await new Promise((resolve) => setTimeout(resolve, GATHER));
        }
        // A batch based on an older version is sent again immediately.
        const wait = this.dirty && !this.#together.sent ? next - performance.now() : 0;
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      }
      this.#failures = 0;
      this.#offline = this.#maintained = false;
      this.#since = undefined;
      await this.#copy.keep();
    } catch (problem) {
      const failure = problem instanceof ApiError ? problem : new ApiError(0, String(problem));
      if (isFinal(failure)) this.#end(failure);
      else {
        this.#failures++;
        this.#offline = failure.status === 0;
        this.#maintained = failure.reason === "maintenance";
        if (failure.status === 401) this.options.onproblem(failure);
        const wait = failure.retryAfter !== undefined
          ? failure.retryAfter * 1000
          : Math.min(LONGEST, 500 * 2 ** Math.min(this.#failures, 6));
        if (!this.#stopped) this.#postIn(wait);
      }
      throw failure;
    } finally {
      this.#tell();
    }
  }

  async #sendNext(): Promise<void> {
    const { client } = this;
    const sending = this.#together.next()!;
    // The caret of the tab whose changes this one continues.
    if (client !== this.client) this.#leave(client);
    // If the tab closes before the response, the next one knows what may have arrived.
    await this.#copy.keep();
    if (!navigator.onLine) throw new ApiError(0, t("serverCantBeReached"));
    const body = { ...sending, epoch: this.#epoch, schema: table.editor, caret: this.#caret() };
    this.#hasMoved = false;
    const signal = AbortSignal.timeout(ANSWER);
    const asked = api.POST(`${this.#path}/steps`, { params: pathOf(this.options), body, signal });
    const behind = asked.then(
      ({ error }) => error as unknown as { batches?: Batch[]; index?: number } | undefined,
      () => undefined,
    );
    try {
      this.#take((await ask(asked)).batches);
      this.#failures = 0;
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      const { status, reason } = problem;
      if (reason === "behind") this.#take((await behind)!.batches!);
      else if (status === 410) await this.#reload();
      else if (status === 413) this.#apply(this.#together.tooLarge(this.#shown));
      else if (reason === "step") {
        this.#apply(this.#together.refused(this.#shown, (await behind)!.index ?? 0));
      } else if (status === 412 && sessionStorage.getItem(RELOADED) !== table.editor) {
        // The server has another version of the app. Pending changes are kept in this browser.
        sessionStorage.setItem(RELOADED, table.editor);
        // With what was typed while the server answered.
        await this.#copy.keep();
        location.reload();
        throw problem;
      } else throw problem;
    }
  }

  /** Stop, because the server accepts no more changes of this page. Unsent ones stay in this browser. */
  #end(problem: Error): void {
    this.#ended = true;
    for (const end of this.#ends.splice(0)) end();
    void this.#copy.keep().finally(this.options.onend);
    this.options.onproblem(problem);
    this.#tell();
  }

  // --- positions ---

  /** Store unsent changes in this browser, or nothing if there are none. */
  #store(): Promise<unknown> {
    const own = this.#together.keep();
    // Copies, because the browser stores them a moment later.
    const batches = [...this.#start.batches];
    const kept = { epoch: this.#epoch, ...this.#start, batches, own, aside: [...this.#aside] };
    return this.options.keep(this.dirty || this.#aside.length ? kept : undefined);
  }

  #tell(): void {
    clearTimeout(this.#slow);
    const { onstate } = this.options;
    if (this.#catching) return onstate({ kind: "catching" });
    if (!this.dirty && !this.#aside.length) return onstate({ kind: this.#isTooLarge ? "unsaved" : "saved" });
    const isOffline = this.#offline || !navigator.onLine;
    if (isOffline || this.#maintained) {
      const { state } = this.#copy;
      if (state === "stored") return onstate({ kind: isOffline ? "offline" : "maintenance" });
      return onstate({ kind: state === "pending" ? "saving" : "unsaved" });
    }
    const waited = performance.now() - (this.#since ?? performance.now());
    if (this.#failures || waited > SLOW || this.#ended || !this.dirty) return onstate({ kind: "unsaved" });
    this.#slow = setTimeout(() => this.#tell(), SLOW - waited + 10);
    onstate({ kind: "saving" });
  }

  // --- text set aside ---

  #rescued(rescue: Rescue): void {
    if (rescue.kind === "restored") return this.options.onrestored(rescue.key, rescue.by);
    const inline = rescue.nodes[0]?.isInline;
    const nodes = inline ? [schema.nodes.paragraph!.create(null, rescue.nodes)] : rescue.nodes;
    const blocks = nodes.flatMap((node) => standing(node, this.#together.base));
    if (!blocks.length) return;
    this.#aside.push(
      ...parted(wellFormed(blocks.map(writeBlock))).map((nodes) => ({ nodes, why: rescue.why })),
    );
    // Until this rebase ends, the stored version wouldn't be that of the stored changes.
    this.#copy.changed();
    queueMicrotask(() => void this.#copy.keep().then(() => this.#putAside()));
  }

  /** Send text that couldn't be placed to the server. */
  #putAside(): Promise<void> {
    this.#setting ??= this.#putAll().finally(() => {
      this.#setting = undefined;
      this.#tell();
    });
    return this.#setting;
  }

  async #putAll(): Promise<void> {
    const { space } = this.options;
    for (let at = 0; at < this.#aside.length;) {
      const { nodes, why } = this.#aside[at]!;
      try {
        const document = { object: "document", nodes } as never;
        const params = { path: { spaceId: space } };
        const { markdown } = await ask(
          api.POST("/spaces/{spaceId}/content/convert", { params, body: { document } }),
        );
        await ask(
          api.POST(`${this.#path}/set-aside`, { params: pathOf(this.options), body: { markdown, why } }),
        );
      } catch {
        // It stays in this browser until the next attempt, and keeps no other one from the server.
        at++;
        continue;
      }
      this.#aside.splice(at, 1);
      await this.#copy.keep();
      this.options.onaside();
    }
  }
}

/** Return blocks in parts that the server can store. */
function parted(blocks: BlockJson[]): BlockJson[][] {
  let size = 0;
  const found: BlockJson[][] = [];
  for (const block of blocks) {
    const own = JSON.stringify(block).length;
    size += own;
    if (!found.length || size > MOST_ASIDE) {
      found.push([]);
      size = own;
    }
    found.at(-1)!.push(block);
  }
  return found;
}

/** Return whether the server accepts no more changes: permission was lost, or the page or change request is gone. */
function isFinal({ status, reason }: ApiError): boolean {
  return status === 403 || status === 404 || status === 412 || status === 409 && reason !== "behind";
}
