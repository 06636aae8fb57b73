/**
 * Keeps what is written: in this browser at once, on the server after a pause. One save runs at a time; what is written
 * meanwhile goes with the next. Whatever the server answers, the text stays here until it has it.
 */
import { ApiError } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { isWritten, same, writeBlock } from "../document/convert.ts";
import { trimmed } from "../document/trimming.ts";
import type { BlockJson } from "../document/types.ts";
import type { Node } from "prosemirror-model";
import type { SaveState } from "./base.ts";
import { type BlockChanges, difference } from "./differences.ts";
import type { Draft } from "./keeping.ts";
import type { LoadedPage } from "./page.ts";

const IDLE = 800;
const LONGEST = 5000;
const KEEP = 60;
/** How long a save waits for what somebody else saved; the server merges what comes later. */
const PATIENCE = 8000;

export interface Fields {
  title: string;
  description: string;
}

/** How often a save is refused because both changed the same before the server keeps both as a conflict. */
const REFUSALS = 5;

/** One save: what the server is asked to write, on top of which revision. */
export interface Save {
  revision: string;
  /** Whether nothing is to be written where somebody else changed the same. */
  refuse: boolean;
  blocks: BlockChanges | null;
  fields: Partial<Fields>;
}

export interface Saved {
  revision: string;
  /** The page as it is at that revision, where somebody else's changes are in it too. */
  merged?: LoadedPage;
  /** Nothing was written, because both changed the same: the page as it is now, null where it is gone. */
  refused?: LoadedPage | null;
  /** Both changed the same words: who the other one is, where that is known. */
  clash?: string;
}

/** A save on its way, with the whole page as it is once the server has it. */
interface Sent {
  save: Save;
  blocks: BlockJson[];
  fields: Fields;
}

export interface SaverOptions {
  revision: string;
  /** The blocks that the server has at that revision. */
  blocks: BlockJson[];
  fields: Fields;
  /** The text as it is now is what this save sends: what is written from now on goes with the next one. */
  began: (save: Save) => void;
  send: (save: Save) => Promise<Saved>;
  /** A save of another tab that ended before it was answered: the server may have it. */
  sent?: Sent;
  /** The revision that is there now, where that can be learned. */
  current?: () => Promise<string | undefined>;
  /** Brings in first what somebody else saved, where that can be; the save is of what is here then. */
  fresh?: () => Promise<void>;
  keep: (draft: Pick<Draft, "revision" | "blocks" | "fields" | "sent">) => Promise<unknown>;
  drop: () => Promise<unknown>;
  onstate: (state: SaveState) => void;
  onproblem: (problem: Error) => void;
  /** What was sent is on the server, as it was sent. */
  onsaved: () => void;
  /** What the server has is to be taken in, with `moved`; `sent`: what was sent is in it. False where it cannot be: then the
   * base stays what is known here, and what was sent goes with the next save again. */
  take: (found: LoadedPage, sent?: Fields) => boolean;
  /** The blocks with these keys were refused, and why. */
  onrefused: (keys: Set<string>, message: string) => void;
  now?: () => number;
}

/** The written blocks of the page. Each has a key by then (see `writing.ts`). */
export function blocksOf(doc: Node): BlockJson[] {
  const found: BlockJson[] = [];
  doc.forEach((node) => {
    if (isWritten(node)) found.push(writeBlock(node));
  });
  return found;
}

export class Saver {
  revision: string;
  /** While a save is on its way, until what it answers is known here. */
  posting: Promise<void> | undefined;
  #blocks: BlockJson[];
  #fields: Fields;
  #now: { doc: Node | null; fields: Fields };
  #dirty = false;
  #sending: Promise<void> | undefined;
  /** What was sent and not answered yet. While it is there, nobody knows whether the server has it. */
  #sent: Sent | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #keeping: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #since: number | undefined;
  #failures = 0;
  #refusals = 0;
  #kept = true;
  #refused = new Map<string, BlockJson>();
  #stopped = false;
  #told: SaveState = { kind: "saved" };

  constructor(private options: SaverOptions, private prepare: () => Node) {
    this.revision = options.revision;
    this.#blocks = options.blocks;
    this.#fields = options.fields;
    this.#now = { doc: null, fields: options.fields };
    this.#sent = options.sent;
  }

  get saved(): BlockJson[] {
    return this.#blocks;
  }

  get savedFields(): Fields {
    return this.#fields;
  }

  get dirty(): boolean {
    return this.#dirty;
  }

  /** Whether the server may have what is counted as unsaved here; bringing in its text would double that. */
  get unsure(): boolean {
    return this.#sent !== undefined;
  }

  /** Something was written. */
  changed(fields?: Fields): void {
    if (fields) this.#now.fields = fields;
    this.#dirty = true;
    this.#tell({ kind: "unsaved" });
    this.#keeping ??= setTimeout(() => void this.#keep(), KEEP);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#failures) return;
    this.#since ??= this.#time();
    const wait = Math.max(0, Math.min(IDLE, LONGEST - (this.#time() - this.#since)));
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.flush().catch(() => {}), wait);
  }

  #time(): number {
    return (this.options.now ?? Date.now)();
  }

  /** The page as it is to be on the server: what was typed since has no blanks around it. */
  #wanted(doc: Node): BlockJson[] {
    const known = new Map(this.#blocks.map((block) => [block.key, block]));
    return blocksOf(doc).flatMap((block) => {
      const was = known.get(block.key);
      if (was && same(was, block)) return [was];
      const found = trimmed(block, was);
      return found !== block && isBlank(found) ? [] : [found];
    });
  }

  #changes(doc: Node): Save {
    const after = this.#wanted(doc);
    const blocks = difference(this.#blocks, after);
    const fields: Partial<Fields> = {};
    for (const name of ["title", "description"] as const) {
      if (this.#now.fields[name] !== this.#fields[name]) fields[name] = this.#now.fields[name];
    }
    // A page needs a title: until there is one, the last stays.
    if (fields.title !== undefined && !fields.title.trim()) delete fields.title;
    return { revision: this.revision, refuse: this.#refusals < REFUSALS, blocks, fields };
  }

  async #keep(): Promise<void> {
    clearTimeout(this.#keeping);
    this.#keeping = undefined;
    if (this.#stopped) return;
    const save = this.#changes(this.prepare());
    try {
      if (isEmpty(save)) await this.options.drop();
      else await this.options.keep({ ...save, ...(this.#sent ? { sent: this.#sent.save } : {}) });
      this.#kept = true;
    } catch {
      this.#kept = false;
    }
  }

  /** Saves now; resolves when all that was written before has arrived. */
  async flush(): Promise<void> {
    clearTimeout(this.#idle);
    clearTimeout(this.#retry);
    while (this.#sending) await this.#sending;
    if (!this.#dirty || this.#stopped) return;
    this.#sending = this.#send().finally(() => (this.#sending = undefined));
    await this.#sending;
    if (this.#dirty && !this.#failures) this.#schedule();
  }

  /** The next save: one that was not answered as it was, else what is not saved yet; undefined where there is nothing. */
  async #next(): Promise<Sent | undefined> {
    if (this.#sent) {
      const now = await soon(this.options.current?.());
      // Sent again as it was, it is merged with itself if it had arrived.
      if (now !== this.#sent.save.revision) return this.#sent;
      this.#sent = undefined;
    }
    await soon(this.options.fresh?.());
    const doc = this.prepare();
    const fields = this.#now.fields;
    const blocks = this.#wanted(doc);
    const save = this.#withoutRefused(this.#changes(doc));
    this.options.began(save);
    this.#dirty = false;
    this.#since = undefined;
    return isEmpty(save) ? undefined : { save, blocks, fields };
  }

  async #send(): Promise<void> {
    const again = this.#sent !== undefined;
    let sent = await this.#next();
    // A page that came in just now is what the save has to be made on.
    while (sent !== undefined && sent !== this.#sent && sent.save.revision !== this.revision) {
      sent = await this.#next();
    }
    if (sent === undefined) {
      this.#settled();
      return;
    }
    this.#tell({ kind: "saving" });
    let posted = (): void => {};
    this.posting = new Promise((resolve) => (posted = resolve));
    let asked = again;
    try {
      if (!navigator.onLine) throw new ApiError(0, t("serverCantBeReached"));
      asked = true;
      this.#sent = sent;
      // Should the tab end before the answer, the next one knows what may have arrived.
      if (!again) await this.#keep();
      const saved = await this.options.send(sent.save);
      this.#failures = 0;
      this.#sent = undefined;
      if (saved.refused !== undefined) {
        this.#dirty = true;
        // What is written here goes on top of it, at once; what cannot be, the server keeps beside it.
        const taken = saved.refused !== null && this.options.take(saved.refused);
        this.#refusals = taken ? this.#refusals + 1 : REFUSALS;
        this.#retry = setTimeout(() => void this.flush().catch(() => {}), 0);
        return;
      }
      this.#refusals = 0;
      const fields = {
        ...sent.fields,
        title: sent.fields.title.trim() ? sent.fields.title : this.#fields.title,
      };
      if (saved.merged === undefined) {
        this.#blocks = this.#withRefused(sent.blocks);
        this.#fields = fields;
        this.revision = saved.revision;
        this.options.onsaved();
      } else this.#dirty = !this.options.take(saved.merged, fields) || this.#dirty;
      if (saved.clash !== undefined) this.#tell({ kind: "changed", by: saved.clash, clash: true });
      else this.#settled();
    } catch (problem) {
      this.#dirty = true;
      const told = problem instanceof ApiError ? problem : new ApiError(500, String(problem));
      if (!asked || !isUnsure(told)) this.#sent = undefined;
      this.#failed(told, sent.save);
      throw problem;
    } finally {
      this.posting = undefined;
      posted();
      if (this.#dirty || this.#told.kind === "saved") void this.#keep();
    }
  }

  #settled(): void {
    if (this.#dirty || this.#refused.size) this.#tell({ kind: "unsaved" });
    else this.#tell({ kind: "saved" });
  }

  #failed(problem: ApiError, save: Save): void {
    this.#failures++;
    const { status } = problem;
    if (status === 0) this.#tell({ kind: this.#kept ? "offline" : "unsaved" });
    else this.#tell({ kind: "unsaved" });
    if (status === 400 && this.#refuse(problem, save)) {
      this.#failures = 0;
      this.#retry = setTimeout(() => void this.flush().catch(() => {}), 0);
      return;
    }
    // Someone else deleted a block: the save is built again from the current document.
    if (problem.reason === "block_not_found" && this.#failures < 4) {
      this.#retry = setTimeout(() => void this.flush().catch(() => {}), 200 * this.#failures);
      return;
    }
    if (status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429) {
      this.options.onproblem(problem);
      // What the server says of the text itself is another thing once something else was written.
      if (status === 400 || status === 404 || status === 412 || status === 413) {
        this.#failures = 0;
        return;
      }
    }
    const wait = problem.retryAfter !== undefined
      ? problem.retryAfter * 1000
      : Math.min(30_000, 1000 * 2 ** Math.min(this.#failures, 5));
    this.#retry = setTimeout(() => void this.flush().catch(() => {}), wait);
  }

  /** Leaves the block that the error's field is in out of further saves until it is edited; false: it names none. */
  #refuse(problem: ApiError, save: Save): boolean {
    const match = /\b(set|insert)\[(\d+)\](?:\.document\.document(?:\.nodes)?\[(\d+)\])?/.exec(
      problem.field ?? "",
    );
    if (match === null || save.blocks === null) return false;
    const entry = match[1] === "set"
      ? save.blocks.set[Number(match[2])]
      : save.blocks.insert[Number(match[2])];
    const inside = entry?.document.document[Number(match[3] ?? 0)];
    if (entry === undefined || inside === undefined) return false;
    const all = blocksOf(this.prepare());
    const key = match[1] === "set" ? (entry as { block: string }).block : inside.key!;
    const block = all.find((each) => each.key === key) ?? all.find((each) => holds(each, key));
    if (block === undefined) return false;
    this.#refused.set(block.key!, block);
    this.options.onrefused(new Set(this.#refused.keys()), problem.message);
    return true;
  }

  #withoutRefused(save: Save): Save {
    if (!this.#refused.size || save.blocks === null) return save;
    const now = new Map(blocksOf(this.prepare()).map((block) => [block.key!, block]));
    for (const [key, block] of this.#refused) if (!same(now.get(key), block)) this.#refused.delete(key);
    this.options.onrefused(new Set(this.#refused.keys()), "");
    const left = (key: string): boolean =>
      ![...this.#refused].some(([refused, block]) => refused === key || holds(block, key));
    const blocks: BlockChanges = {
      ...save.blocks,
      set: save.blocks.set.filter((each) => left(each.block)),
      insert: save.blocks.insert
        .map((each) => ({
          ...each,
          document: { document: each.document.document.filter((block) => left(block.key!)) },
        }))
        .filter((each) => each.document.document.length),
    };
    return {
      ...save,
      blocks: blocks.set.length || blocks.insert.length || blocks.move.length || blocks.delete.length
        ? blocks
        : null,
    };
  }

  /** Blocks of the server, with those that it refused as they are here. */
  withOwn(blocks: BlockJson[]): BlockJson[] {
    const found = blocks.map((block) => this.#refused.get(block.key!) ?? block);
    let last: BlockJson | undefined;
    for (const own of this.#refused.size ? blocksOf(this.prepare()) : []) {
      const at = found.findIndex((block) => block.key === (last?.key ?? null));
      if (this.#refused.has(own.key!) && !found.some((block) => block.key === own.key)) {
        found.splice(at + 1, 0, own);
      }
      last = own;
    }
    return found;
  }

  /** What the server has of refused blocks is what it had. */
  #withRefused(blocks: BlockJson[], had = this.#blocks): BlockJson[] {
    const before = new Map(had.map((block) => [block.key!, block]));
    return blocks.flatMap((block) => {
      if (!this.#refused.has(block.key!)) return [block];
      const was = before.get(block.key!);
      return was ? [was] : [];
    });
  }

  /** The server has another state now, which the text here was brought up to. `now`: the fields as they are here. */
  moved({ revision, document }: LoadedPage, blocks: BlockJson[], fields: Fields, now: Fields): void {
    this.revision = revision;
    this.#blocks = this.#withRefused(blocks, document.nodes);
    this.#fields = fields;
    this.#now.fields = now;
  }

  /** Takes in what somebody else saved; where it cannot be, the server is to keep both. */
  bring(found: LoadedPage): void {
    if (!this.options.take(found)) this.#refusals = REFUSALS;
  }

  /** Tries again at once: the network is back, or somebody signed in. */
  again(): void {
    if (!this.#dirty && !this.#failures) return;
    this.#failures = 0;
    void this.flush().catch(() => {});
  }

  #tell(state: SaveState): void {
    if (state.kind === "unsaved" && (this.#told.kind === "offline") && this.#failures) return;
    if (same(state, this.#told)) return;
    this.#told = state;
    this.options.onstate(state);
  }

  /** Where the text is now; `nowhere`: closing the tab would lose something. */
  get kept(): "server" | "browser" | "nowhere" {
    if (!this.#dirty && !this.#sent) return "server";
    return this.#kept ? "browser" : "nowhere";
  }

  /** Puts down what is not saved, and stops. */
  async stop(): Promise<void> {
    if (this.#dirty) await this.#keep();
    await this.flush().catch(() => {});
    this.#stopped = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#retry);
    clearTimeout(this.#keeping);
  }
}

/** Whether a save may have arrived although it was not answered: the connection or a proxy gave up. */
function isUnsure({ status }: ApiError): boolean {
  return status === 0 || status === 502 || status === 504;
}

/** What comes within a while, undefined after it. */
function soon<T>(asked: Promise<T> | undefined): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), PATIENCE)));
  return Promise.race([asked ?? Promise.resolve(undefined), late]).finally(() => clearTimeout(timer));
}

/** Whether it is a paragraph of nothing but blanks. */
function isBlank(block: BlockJson): boolean {
  return block.type === "paragraph" && !block.nodes?.length;
}

function isEmpty(save: Save): boolean {
  return save.blocks === null && !Object.keys(save.fields).length;
}

/** Whether a part with this key is somewhere in a block. */
function holds(block: BlockJson, key: string): boolean {
  const inner = [
    ...(block.nodes ?? []),
    ...(block.fragments ?? []).flatMap((each) => [each as unknown as BlockJson]),
  ] as BlockJson[];
  return inner.some((each) => each.key === key || holds(each, key));
}
