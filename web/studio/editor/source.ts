/** Edits a page as Markdown. The page is saved as a whole, based on the revision from which it was read, and merged
 * by the server. */
import { api, ask } from "../../shared/client.ts";
import { changeContent, type Changes } from "../state/changing.ts";
import { live } from "../state/live.svelte.ts";
import { outdate } from "../state/resource.svelte.ts";
import { onSignedIn, sessionEnded } from "../state/signin.ts";
import type { SaveState } from "./base.ts";
import { type Draft, dropDraft, keepDraft, leftDrafts, nameTab } from "./storeddrafts.ts";
import { Sender } from "./sender.ts";
import { words } from "./words.ts";

/** The number of milliseconds to wait for a response before a save counts as unanswered. */
const ANSWER = 30_000;

export interface Source {
  text: string;
  revision: string;
}

export interface SourceOptions {
  space: string;
  change: number;
  page: string;
  onstate: (state: SaveState) => void;
  onproblem: (problem: Error) => void;
  /** Called when the text changes because someone else edited it. */
  ontext: (text: string) => void;
}

export async function readSource(
  space: string,
  change: number,
  page: string,
): Promise<Source & { id: string }> {
  const found = await ask(api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}", {
    params: { path: { spaceId: space, changeRequestId: String(change) } },
  }));
  const answer = await ask(api.GET("/spaces/{spaceId}/revisions/{revisionId}/page/{pageId}", {
    params: {
      path: { spaceId: space, revisionId: found.revision, pageId: page },
      query: { format: "markdown" },
    },
  }));
  return { text: (answer as { markdown?: string }).markdown ?? "", revision: found.revision, id: found.id };
}

/** Combine two changes of a text if they are in different places. Return undefined if they touch. */
export function mergeTexts(before: string, mine: string, theirs: string): string | undefined {
  if (mine === before || mine === theirs) return theirs;
  if (theirs === before) return mine;
  const [own, other] = [rangeOf(before, mine), rangeOf(before, theirs)];
  if (own.to < other.from) return splice(theirs, mine, own, 0);
  if (other.to < own.from) return splice(theirs, mine, own, theirs.length - before.length);
  return undefined;
}

interface Range {
  from: number;
  to: number;
  /** The end of the replacement in the new text. */
  end: number;
}

function rangeOf(before: string, after: string): Range {
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from++;
  let tail = 0;
  while (tail < most - from && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return { from, to: before.length - tail, end: after.length - tail };
}

function splice(theirs: string, mine: string, own: Range, shift: number): string {
  return theirs.slice(0, own.from + shift) + mine.slice(own.from, own.end) + theirs.slice(own.to + shift);
}

export class SourceWriter {
  #now: string;
  /** The server's text at `#revision`. */
  #saved: string;
  #revision: string;
  #id: string;
  #sender: Sender;
  /** Whether the last save changed the same words as another person's edit. */
  #clashes = false;
  #stopped = false;
  #tab = nameTab();
  /** The changes from another tab, deleted once this tab has stored them. */
  #taken: Draft | undefined;
  #ends: (() => void)[] = [];

  private constructor(private options: SourceOptions, source: Source & { id: string }) {
    this.#now = this.#saved = source.text;
    this.#revision = source.revision;
    this.#id = source.id;
    const { onstate, onproblem } = options;
    this.#sender = new Sender({
      isDirty: () => this.#now !== this.#saved,
      send: () => this.#send(),
      keep: () => this.#keep(),
      onstate: (state) =>
        onstate(
          state.kind === "saved" && this.#clashes
            ? { kind: "changed", by: words.someone, clash: true }
            : state,
        ),
      onproblem(problem) {
        if (problem.status === 401) sessionEnded();
        else onproblem(problem);
      },
    });
  }

  /** Start with the server's text and the changes of another tab. */
  static async start(options: SourceOptions): Promise<SourceWriter> {
    const { space, change, page } = options;
    const left = await leftDrafts(space, change, sourceKey(page)).catch((): Draft[] => []);
    const made = new SourceWriter(options, await readSource(space, change, page));
    // Take one draft at a time: the changes of a second tab wait until the page is opened again.
    const draft = left.at(-1);
    if (draft?.source !== undefined) {
      made.#revision = draft.revision ?? made.#revision;
      made.#taken = draft;
      made.write(draft.source);
    }
    made.#listen();
    return made;
  }

  get text(): string {
    return this.#now;
  }

  get kept(): "server" | "browser" | "nowhere" {
    return this.#sender.kept;
  }

  /** Save unsaved changes. */
  flush(): Promise<void> {
    return this.#sender.flush();
  }

  #listen(): void {
    const controller = new AbortController();
    const { signal } = controller;
    const again = (): void => this.#sender.again();
    addEventListener("online", again, { signal });
    document.addEventListener("visibilitychange", () => void this.flush().catch(() => {}), { signal });
    addEventListener("beforeunload", (event) => {
      void this.flush().catch(() => {});
      if (this.kept === "nowhere") event.preventDefault();
    }, { signal });
    this.#ends.push(
      () => controller.abort(),
      onSignedIn(again),
      live.hear((news) => {
        const here = news.kind === "revision" && news.changeRequestId === this.#id &&
          news.revisionId !== this.#revision && (!news.pageIds || news.pageIds.includes(this.options.page));
        if ((here || news.kind === "reset") && this.kept === "server") {
          void this.#take(this.#saved, news.user?.displayName);
        }
      }),
    );
  }

  /** Record an edit made here. */
  write(text: string): void {
    this.#now = text;
    this.#sender.changed();
  }

  async #keep(): Promise<void> {
    const { space, change, page } = this.options;
    const place = { tab: this.#tab.tab, space, change, page: sourceKey(page) };
    const [source, revision] = [this.#now, this.#revision];
    if (source === this.#saved) await dropDraft(place);
    else await keepDraft({ ...place, revision, fields: {}, source, at: Date.now() });
    if (this.#taken) await dropDraft(this.#taken);
    this.#taken = undefined;
  }

  async #send(): Promise<void> {
    const { space, change, page } = this.options;
    const sent = this.#now;
    const body = {
      changes: [{ operation: "update_page", page, document: { markdown: sent } }] as Changes,
      baseRevision: this.#revision,
    };
    const signal = AbortSignal.timeout(ANSWER);
    const answer = await changeContent(space, { kind: "change", number: change }, body, signal);
    live.made(answer.mergedRevision ?? answer.revision!);
    if (answer.mergedRevision !== undefined) await this.#take(sent);
    else [this.#revision, this.#saved] = [answer.revision!, sent];
    this.#clashes = answer.result === "conflicts";
  }

  /** Apply changes that someone else saved. `before`: the text with which the server merged them. */
  async #take(before: string, who?: string): Promise<void> {
    const { space, change, page } = this.options;
    const found = await readSource(space, change, page).catch(() => undefined);
    if (!found || this.#stopped) return;
    const merged = mergeTexts(before, this.#now, found.text);
    // Both people changed the same words. Based on the older revision, the server creates a conflict and
    // loses neither version.
    if (merged === undefined) return;
    const changed = merged !== this.#now;
    [this.#saved, this.#revision, this.#now] = [found.text, found.revision, merged];
    if (!changed) return;
    this.options.ontext(merged);
    this.options.onstate({ kind: "changed", by: who ?? words.someone });
  }

  async stop(): Promise<void> {
    for (const end of this.#ends) end();
    await this.#sender.stop();
    this.#stopped = true;
    this.#tab.end();
    // Other screens of the change request, such as its review, show all of what was saved here.
    outdate(`space/${this.options.space}/changes/`);
  }
}

/** Return the key for a page's unsaved Markdown, which is stored next to its unsaved blocks. */
function sourceKey(page: string): string {
  return `${page} source`;
}
