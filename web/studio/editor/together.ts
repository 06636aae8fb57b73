/**
 * Unconfirmed local changes on top of other people's changes. The server puts all batches of steps in one order.
 * All decisions about whether a word is lost are made here.
 *
 * `base` is the server's document at `version`, and `pending` leads from it to the document that is shown. Incoming
 * steps change the base, and pending steps are applied again on top, mapped to their new positions. If the place of
 * a step no longer exists, its text is rescued, and no step deletes text that its author hasn't seen. The view then
 * receives the difference as one transaction, so undo, carets, and decorations are affected only by what others
 * wrote.
 */
import { Fragment, type Node, Slice } from "prosemirror-model";
import { isHistoryTransaction } from "prosemirror-history";
import type { EditorState, Transaction } from "prosemirror-state";
import { AttrStep, Mapping, ReplaceAroundStep, ReplaceStep, Step, Transform } from "prosemirror-transform";
import { childrenOf } from "../document/building.ts";
import { same } from "../document/comparing.ts";
import { followed, replaceTop } from "./difference.ts";
import { findBlock, findMoves, mapsOfMoved, takeMoved } from "./moves.ts";
import {
  byKey,
  deleted,
  deletesOther,
  deleteWithin,
  fits,
  hasWords,
  isInline,
  isSplit,
  leftToDelete,
  putBack,
  putBlocks,
  Ranges,
  splitAgain,
  withoutPlaces,
} from "./rescue.ts";

/** Steps and documents as the server sends and receives them. */
export type Json = Record<string, unknown>;

/** The steps of one person's batch, in the order of all batches. `version`: the version after them. */
export interface Batch {
  version: number;
  client: string;
  batch: number;
  attempt: number;
  /** The ID of the author. */
  user: string | null;
  steps: Json[];
}

/** A batch as it is sent. */
export interface Sending {
  client: string;
  batch: number;
  attempt: number;
  version: number;
  steps: Json[];
}

/** Text that couldn't be placed. */
export interface Aside {
  kind: "aside";
  nodes: readonly Node[];
  why: "place-gone" | "step-refused";
}

/** The result for text whose place no longer existed: its block was restored, or the text was set aside. */
export type Rescue = { kind: "restored"; key: string; by: string | undefined } | Aside;

/** Everything that another tab needs to continue a tab's changes. */
export interface Kept {
  client: string;
  version: number;
  sent: number;
  batch: number;
  attempt: number;
  steps: Json[];
  sentAs: number[];
}

/** An unconfirmed step. `sentAs`: its index in the last attempt; -1 if it wasn't sent in this form. */
interface Pending {
  step: Step;
  before: Node;
  sentAs: number;
}

/** A step in the server's order. `same`: the pending step that it confirms unchanged; `user`: its author, if another person. */
interface Ordered {
  step: Step;
  same?: number;
  user?: string | null;
}

/** The metadata of transactions with other people's changes. */
export const REMOTE = "remote";

/** The metadata of transactions that also restore other people's text. */
const SPARED = "spared";

const MOST_STEPS = 200;
/** The maximum number of letters in a batch. The server accepts 256 KB, and most letters have one to three bytes. */
const MOST_LETTERS = 80_000;

export class Together {
  pending: Pending[] = [];
  /** The number of steps in the batch that is being sent. */
  sent = 0;
  batch = 0;
  attempt = 0;
  /** The first attempt that had the same steps as the last one, in the same order. */
  #same = 1;
  /** Other people's text in the displayed document, which undo doesn't delete. */
  #others = new Ranges();
  /** Blocks that were moved here, which don't count as the person's own text either. */
  #moved = new Ranges();
  /** The values that own steps set, by the values that these replaced, which undo sets again, and the keys of the blocks. */
  #set = new WeakMap<object, Map<unknown, unknown>>();
  /** The attributes with which undo just reset fields of others, too, with their values. */
  #reset: { place: number; attr: string; value: unknown }[] = [];
  /** The parts of other people's text and moved blocks that undo just deleted, with their positions. */
  #undone: { doc: Node; from: number; to: number; place: number; isMoved: boolean }[] = [];

  #tab: string;

  constructor(
    public client: string,
    public version: number,
    public base: Node,
    private onrescue: (rescue: Rescue) => void = () => {},
    /** The ID of the person. The clients of other people may have the same ID. */
    private user: string | null = null,
  ) {
    this.#tab = client;
  }

  /**
   * Continue with the state that a tab stored. `base`: the document at its version. The batch that the tab sent
   * keeps its client and its number, so that it is applied only once. The next batch is from `tab`: if the other
   * tab is still running, each has its own numbers.
   */
  static restore(
    kept: Kept,
    base: Node,
    onrescue?: (rescue: Rescue) => void,
    tab: string = kept.client,
    user: string | null = null,
  ): Together {
    const { client, version, sent, batch, attempt, steps, sentAs } = kept;
    const found = new Together(tab, version, base, onrescue, user);
    Object.assign(found, { client, sent, batch, attempt });
    found.#same = attempt;
    let doc = base;
    steps.forEach((json, at) => {
      const step = Step.fromJSON(base.type.schema, json);
      found.pending.push({ step, before: doc, sentAs: sentAs[at]! });
      doc = step.apply(doc).doc!;
    });
    return found;
  }

  keep(): Kept {
    const { client, version, sent, batch, attempt, pending } = this;
    const steps = pending.map(({ step }) => step.toJSON());
    return { client, version, sent, batch, attempt, steps, sentAs: pending.map(({ sentAs }) => sentAs) };
  }

  /** The document with all pending changes. */
  get doc(): Node {
    const last = this.pending.at(-1);
    return last ? last.step.apply(last.before).doc! : this.base;
  }

  /** Record a local change. */
  written(transaction: Transaction): void {
    transaction.steps.forEach((made, at) => {
      const before = transaction.docs[at]!;
      const step = readable(made, before);
      this.pending.push({ step, before, sentAs: -1 });
      const history = isHistoryTransaction(transaction);
      for (const ranges of history ? [this.#others, this.#moved] : []) {
        for (const [from, to] of ranges.within(step)) {
          if (!hasWords(before.slice(from, to).content)) continue;
          const place = transaction.mapping.slice(at).map(from, -1);
          this.#undone.push({ doc: before, from, to, place, isMoved: ranges === this.#moved });
        }
      }
      if (step instanceof AttrStep) {
        const { pos, attr, value } = step;
        const { key, [attr]: now } = before.nodeAt(pos)!.attrs;
        const own = isFields(value) ? this.#set.get(value)?.get(key) : undefined;
        if (history && own) {
          const kept = mergedFields(own, value, now);
          const place = transaction.mapping.slice(at).map(pos);
          if (!same(kept, value)) this.#reset.push({ place, attr, value: kept });
        }
        // Blocks without data share one value.
        if (isFields(now)) this.#set.set(now, (this.#set.get(now) ?? new Map()).set(key, value));
      }
      this.#moved.map(step.getMap());
      if (!history && bringsKnown(step, transaction.before)) this.#moved.add(step.getMap());
      this.#others.map(step.getMap());
      if (transaction.getMeta(SPARED)) this.#others.add(step.getMap());
      else this.#others.without(step.getMap());
    });
  }

  /** Return the batch to send. Until it is confirmed, its number identifies the same text, even if it is rebased in
   * the meantime, so it can be sent repeatedly and can arrive late or twice. */
  next(): Sending | undefined {
    if (!this.pending.length) return undefined;
    this.attempt++;
    const again = this.pending.slice(0, this.sent);
    if (!again.length || again.some(({ sentAs }, at) => sentAs !== at)) this.#same = this.attempt;
    if (!this.sent) {
      if (this.client !== this.#tab) this.batch = 0;
      this.client = this.#tab;
      this.batch++;
      let letters = 0;
      for (const { step } of this.pending.slice(0, MOST_STEPS)) {
        letters += JSON.stringify(step).length;
        if (this.sent && letters > MOST_LETTERS) break;
        this.sent++;
      }
    }
    this.pending.forEach((each, at) => (each.sentAs = at < this.sent ? at : -1));
    const { client, batch, attempt, version } = this;
    return { client, batch, attempt, version, steps: this.#sentSteps() };
  }

  #sentSteps(): Json[] {
    return this.pending.slice(0, this.sent).map(({ step }) => wellFormed(step.toJSON() as Json));
  }

  /** Apply the server's steps after `version`, from a response, an event, or a request, in any order and more than once. */
  receive(state: EditorState, given: Batch[]): Transaction | undefined {
    const news = given.filter(({ version }) => version > this.version);
    if (!news.length) return undefined;
    const version = news.at(-1)!.version;
    const isOwn = ({ client, batch, user }: Batch): boolean =>
      client === this.client && batch === this.batch && user === this.user && this.sent > 0;
    const [first] = news;
    if (
      news.length === 1 && isOwn(first!) && first!.steps.length === this.sent &&
      JSON.stringify(first!.steps) === JSON.stringify(this.#sentSteps())
    ) {
      // The usual case.
      this.confirm(this.sent);
      this.version = version;
      return undefined;
    }
    const { schema } = this.base.type;
    const ordered = news.flatMap((each) =>
      each.steps.map((json, at): Ordered => {
        const step = Step.fromJSON(schema, json);
        if (!isOwn(each)) return { step, user: each.user };
        const same = each.attempt >= this.#same ? this.pending.findIndex(({ sentAs }) => sentAs === at) : -1;
        return same < 0 ? { step } : { step, same };
      })
    );
    this.version = version;
    return this.#rebase(state, ordered, news.some(isOwn) ? this.sent : 0);
  }

  /** Record that the server has applied the first `count` pending steps unchanged. */
  confirm(count: number): void {
    this.base = this.pending[count]?.before ?? this.doc;
    this.pending.splice(0, count);
    this.sent = 0;
  }

  /** Handle a batch that the server rejected as too large: send half of it, or omit a single step. */
  tooLarge(state: EditorState): Transaction | undefined {
    if (this.sent === 1) return this.#leaveOut(state, 0);
    this.sent = Math.ceil(this.sent / 2);
    return undefined;
  }

  /** Omit a step of the batch that the server can't apply. */
  refused(state: EditorState, at: number): Transaction | undefined {
    // Steps received since may have changed it or confirmed another form; then it is sent again.
    const number = this.pending.findIndex(({ sentAs }) => sentAs === at);
    return number < 0 || number >= this.sent ? undefined : this.#leaveOut(state, number);
  }

  #leaveOut(state: EditorState, at: number): Transaction {
    const { step, before } = this.pending[at]!;
    const filled = step instanceof AttrStep && setsWords(step, before);
    const nodes = filled ? [withTitle(nodeWith(step, before))] : contentOf(step).content;
    if (filled || hasWords(contentOf(step))) this.onrescue({ kind: "aside", nodes, why: "step-refused" });
    return this.#rebase(state, [], 0, at);
  }

  /** Continue from another document of the server. Its steps since `version` are unknown, so the difference is used. */
  moved(state: EditorState, version: number, doc: Node): Transaction {
    if (this.doc.eq(doc)) {
      // The server has all of it, although its confirmation got lost.
      this.confirm(this.pending.length);
      this.version = version;
      return state.tr.setMeta("addToHistory", false).setMeta(REMOTE, true);
    }
    const made = new Transform(this.base);
    replaceTop(made, childrenOf(doc));
    this.version = version;
    // It is unknown whether the document contains sent text, and the number of that text belongs to another
    // order.
    this.sent = 0;
    return this.#rebase(state, made.steps.map((step) => ({ step, user: null })), 0);
  }

  /** Rebase pending steps on additional steps, except the first `confirmed` ones and one that is omitted. */
  #rebase(state: EditorState, ordered: Ordered[], confirmed: number, out = -1): Transaction {
    const count = this.pending.length;
    const made = new Transform(this.base);
    // Back out of the pending steps, through the new ones, to the current position.
    const mapping = new Mapping(this.pending.map(({ step }) => step.getMap().invert()).reverse());
    /** The positions of blocks with fields that others filled in, each with the number of the next map. */
    const fields: [first: number, place: number][] = [];
    for (const { step, user } of ordered) {
      if (user !== undefined && step instanceof AttrStep && setsWords(step, made.doc)) {
        fields.push([count + made.steps.length + 1, step.pos]);
      }
      made.step(step);
      if (user !== undefined) {
        for (const place of filledBy(step, made.doc, this.base)) {
          fields.push([count + made.steps.length, place]);
        }
      }
    }
    // Positions in a block that others moved go with it.
    const sources = new Map(
      [...findMoves(made.steps.map((step, at) => ({ step, before: made.docs[at]! })), 0)]
        .filter((ends) => ends.every((at) => ordered[at]!.same === undefined))
        .map(([from, to]) => [to, from]),
    );
    ordered.forEach(({ step, same }, at) => {
      const source = sources.get(at);
      const mirrored = same !== undefined
        ? count - 1 - same
        : source !== undefined
        ? count + source
        : undefined;
      mapping.appendMap(step.getMap(), mirrored);
    });
    this.base = made.doc;
    const found: Pending[] = [];
    const moves = findMoves(this.pending, this.sent);
    /** The current content of moved blocks, by the index of their insertion. */
    const changed = new Map<number, Fragment>();
    /** The places of their fields in them. */
    const carried = new Map<number, number[]>();
    let sent = 0;
    for (let at = confirmed; at < count; at++) {
      if (at === out || moves.get(at) === out) continue;
      const way = mapping.slice(count - at);
      const was = withContent(this.pending[at]!, changed.get(at));
      const done = made.steps.length;
      const mapped = continuing(was, way, this.pending[at - 1]?.step) ??
        withOthers(made.doc, was, mappedStep(was.step, way));
      const taken = moves.has(at) ? takeMoved(made, was, mapped) : undefined;
      const whole = leftToDelete(was.step, mapping, count - at);
      const filled = placesOf(fields, mapping);
      const unseen = filled.filter((place) =>
        [...whole, ...(mapped ? deleted(mapped) : [])].some(([from, to]) => place >= from && place < to)
      );
      const left = withoutPlaces(whole, unseen);
      const isBlind = !taken && mapped !== null &&
        (unseen.length > 0 || deletesOther(mapped, left, made.doc));
      const kept = taken !== undefined || mapped !== null && !isBlind && fits(made, mapped);
      let isPutBack = false;
      if (taken) {
        changed.set(moves.get(at)!, taken);
        const start = placeOf(made.steps.at(-1)!);
        carried.set(moves.get(at)!, filled.map((place) => place - start));
      }
      if (!kept) {
        if (isBlind && was.step instanceof ReplaceStep) deleteWithin(made, left);
        const [first, place] = [count - at, made.mapping.slice(done).map(way.map(placeOf(was.step), -1), -1)];
        const remover = (): string | undefined => removerOf(mapping, first, count, was.step, ordered);
        isPutBack = putBackText(made, was);
        let { step } = was;
        // Text that was typed in one go is restored or set aside together.
        for (
          let next = at + 1;
          !isPutBack && next < count && next !== out && next !== this.sent;
          at = next++
        ) {
          const more = withInsertion(step, this.pending[next]!.step);
          if (!more) break;
          step = more;
        }
        if (!isPutBack) this.#rescue(made, { ...was, step }, place, remover);
      }
      const maps = kept && changed.has(at)
        ? mapsOfMoved(made.docs[done]!, placeOf(mapped!), contentOf(this.pending[at]!.step), changed.get(at)!)
        : made.mapping.maps.slice(done);
      // What follows a kept or rescued text goes after it again.
      const again = kept ? 0 : isPutBack ? maps.length - 1 : -1;
      maps.forEach((map, number) => mapping.appendMap(map, number === again ? count - 1 - at : undefined));
      for (const place of kept ? carried.get(at) ?? [] : []) {
        if (place >= 0 && place < changed.get(at)!.size) {
          fields.push([mapping.maps.length, placeOf(mapped!) + place]);
        }
      }
      made.steps.slice(done).forEach((step, number) => {
        const sentAs = kept && !taken && !changed.has(at) ? was.sentAs : -1;
        found.push({ step, before: made.docs[done + number]!, sentAs });
      });
      if (at < this.sent) sent = found.length;
    }
    const pending = this.pending;
    this.pending = found;
    this.sent = sent;
    return this.#show(state, pending, ordered, made.doc, mapping);
  }

  /** Change the view to a document: with the received steps if they lead there, or else with the difference. */
  #show(
    state: EditorState,
    pending: Pending[],
    ordered: Ordered[],
    doc: Node,
    mapping: Mapping,
  ): Transaction {
    let transaction = over(state, pending, ordered);
    if (!transaction?.doc.eq(doc)) {
      transaction = state.tr;
      replaceTop(transaction, childrenOf(doc));
      if (!transaction.doc.eq(doc)) transaction.replaceWith(0, transaction.doc.content.size, doc.content);
    }
    for (const map of transaction.mapping.maps) {
      this.#moved.map(map);
      this.#others.map(map);
      this.#others.add(map);
    }
    const selection = followed(state, transaction, mapping);
    if (!selection.eq(transaction.selection)) transaction.setSelection(selection);
    return transaction.setMeta("addToHistory", false).setMeta(REMOTE, true);
  }

  /** Restore the block of text whose place no longer exists, or set the text aside. */
  #rescue(made: Transform, { step, before }: Pending, place: number, by: () => string | undefined): void {
    if (step instanceof AttrStep) {
      const { pos, attr, value } = step;
      // A new key belongs to the block that a split created, which doesn't exist then.
      if (isKey(attr)) return;
      const there = byKey(made.doc, before.nodeAt(pos)!.attrs.key);
      if (there) fits(made, withOthers(made.doc, { step, before }, new AttrStep(there.pos, attr, value))!);
      else if (setsWords(step, before)) {
        const node = nodeWith(step, before);
        if (putBlocks(made, [withTitle(node)], place)) {
          this.onrescue({ kind: "restored", key: node.attrs.key, by: by() });
        }
      }
      return;
    }
    if (!(step instanceof ReplaceStep || step instanceof ReplaceAroundStep)) return;
    const { content, openStart } = step.slice;
    const filled = !openStart && content.content.some(({ attrs }) => bringsWords({}, attrs.data));
    if (!hasWords(content) && !filled) return;
    if (isInline(step.slice)) {
      const block = step.apply(before).doc!.resolve(step.from).parent;
      if (putBlocks(made, [block], place)) {
        this.onrescue({ kind: "restored", key: block.attrs.key, by: by() });
        return;
      }
    } else if (putBlocks(made, content.content, place)) return;
    this.onrescue({ kind: "aside", nodes: content.content, why: "place-gone" });
  }

  /** Return the steps that restore other people's text and fields that were undone together with the person's own ones;
   * undefined if there are none. */
  spared(state: EditorState): Transaction | undefined {
    if (!this.#undone.length && !this.#reset.length) return undefined;
    const transaction = state.tr;
    for (const { place, attr, value } of this.#reset.splice(0)) {
      if (attr in (transaction.doc.nodeAt(place)?.attrs ?? {})) {
        transaction.setNodeAttribute(place, attr, value);
      }
    }
    for (const { doc, from, to, place, isMoved } of this.#undone.splice(0)) {
      const { content } = doc.slice(from, to);
      if (isMoved) {
        const gone = content.content.filter(({ attrs }) => attrs.key && !byKey(transaction.doc, attrs.key));
        putBlocks(transaction, gone, transaction.mapping.map(place, -1));
        for (const node of content.content) {
          const there = gone.includes(node) ? undefined : findBlock(transaction.doc, node);
          if (there) fillFields(transaction, there.pos, there.node, node);
        }
        continue;
      }
      const isWithin = content.firstChild!.isInline;
      if (isWithin && putBack(transaction, doc, from, to)) continue;
      const nodes = isWithin ? [doc.resolve(from).parent.copy(content)] : content.content;
      putBlocks(transaction, nodes, transaction.mapping.map(place, -1));
    }
    return transaction.docChanged
      ? transaction.setMeta("addToHistory", false).setMeta(SPARED, true)
      : undefined;
  }
}

/** Return the current positions of the blocks with these fields. */
function placesOf(fields: [first: number, place: number][], mapping: Mapping): number[] {
  return fields.flatMap(([first, place]) => {
    const { pos, deletedAfter } = mapping.slice(first).mapResult(place, 1);
    return deletedAfter ? [] : [pos];
  });
}

/** Return whether a step inserts blocks that existed before, which means that it moves them. */
function bringsKnown(step: Step, before: Node): boolean {
  return step instanceof ReplaceStep && !step.slice.openStart &&
    step.slice.content.content.some((node) => findBlock(before, node));
}

const LETTER = /[\p{L}\p{N}_]/u;

/**
 * Return the step of text that continues a word or the text of the previous step, directly after it, so that text
 * inserted at the same place doesn't split it. Return undefined for all other steps, and if the text before it no
 * longer exists.
 */
function continuing(
  { step, before }: Pending,
  mapping: Mapping,
  previous: Step | undefined,
): Step | undefined {
  if (!(step instanceof ReplaceStep) || step.from !== step.to || !isInline(step.slice)) return undefined;
  const word = before.resolve(step.from).nodeBefore?.text?.at(-1) ?? "";
  const next = step.slice.content.firstChild?.text?.[0] ?? "";
  const continuesStep = previous instanceof ReplaceStep && previous.slice.size > 0 &&
    previous.from + previous.slice.size === step.from && isInline(previous.slice);
  if (!continuesStep && !(LETTER.test(word) && LETTER.test(next))) return undefined;
  const { pos, deletedBefore } = mapping.mapResult(step.from, -1);
  return deletedBefore ? undefined : new ReplaceStep(pos, pos, step.slice);
}

/** Return a step at its mapped position. An insertion stays one, even if the blocks before and after it were moved apart:
 * it goes before the same block as before. */
function mappedStep(step: Step, mapping: Mapping): Step | null {
  const mapped = step.map(mapping);
  return mapped instanceof ReplaceStep && mapped.to > mapped.from && isInsertion(step)
    ? new ReplaceStep(mapped.from, mapped.from, mapped.slice)
    : mapped;
}

/** Return a step and an insertion directly after its content as one step; undefined if that isn't possible. */
function withInsertion(step: Step, next: Step): Step | undefined {
  return next instanceof ReplaceStep && next.from === next.to ? step.merge(next) ?? undefined : undefined;
}

/** Insert the text of a step whose place no longer exists into its block, or split the block again, wherever it is now.
 * Return false if that isn't possible. */
function putBackText(made: Transform, { step, before }: Pending): boolean {
  if (!(step instanceof ReplaceStep || step instanceof ReplaceAroundStep)) return false;
  const { content } = step.slice;
  if (step instanceof ReplaceStep && isSplit(step)) return splitAgain(made, before, step);
  if (!isInline(step.slice) || !hasWords(content)) return false;
  return putBack(made, step.apply(before).doc!, step.from, step.from + content.size);
}

interface StepJson {
  stepType: string;
  steps?: StepJson[];
}

/**
 * Return the same step in a form that every server can read: widened if it would split a surrogate pair or complete
 * one, and without sets of marks inside other sets, which undo creates and nothing can read.
 */
function readable(step: Step, before: Node): Step {
  const json = step.toJSON() as StepJson;
  if (json.steps?.some(({ steps }) => steps)) {
    const flat = ({ steps, ...one }: StepJson): object[] => steps?.flatMap(flat) ?? [one];
    return Step.fromJSON(before.type.schema, { stepType: json.stepType, steps: flat(json) });
  }
  if (!(step instanceof ReplaceStep)) return step;
  const after = hasHalf(step.slice.content) ? step.apply(before).doc! : undefined;
  const isWithin = (there: number, place: number): boolean =>
    isWithinLetter(before, there) || (after !== undefined && isWithinLetter(after, place));
  const from = isWithin(step.from, step.from) ? step.from - 1 : step.from;
  const to = isWithin(step.to, step.from + step.slice.size) ? step.to + 1 : step.to;
  if (from === step.from && to === step.to) return step;
  return new ReplaceStep(from, to, step.apply(before).doc!.slice(from, step.getMap().map(to, 1)));
}

/** Return whether text begins or ends with half a surrogate pair. Firefox types a pair as two letters. */
function hasHalf({ firstChild, lastChild }: Fragment): boolean {
  return /^[\udc00-\udfff]/.test(firstChild?.text ?? "") || /[\ud800-\udbff]$/.test(lastChild?.text ?? "");
}

/** Return JSON in which halves of letters and NUL are replaced, because the server accepts no request with them. */
export function wellFormed<T>(json: T): T {
  const text = JSON.stringify(json);
  if (!/\\u(d[89a-f]|0000)/.test(text)) return json;
  return JSON.parse(
    text,
    (_, value) => typeof value === "string" ? value.replace(/\p{Surrogate}|\0/gu, "\ufffd") : value,
  );
}

function isWithinLetter(doc: Node, place: number): boolean {
  const { nodeBefore, nodeAfter } = doc.resolve(place);
  return /[\ud800-\udbff]$/.test(nodeBefore?.text ?? "") && /^[\udc00-\udfff]/.test(nodeAfter?.text ?? "");
}

function placeOf(step: Step): number {
  if (step instanceof AttrStep) return step.pos;
  return step instanceof ReplaceStep || step instanceof ReplaceAroundStep ? step.from : 0;
}

function isInsertion(step: Step): boolean {
  return step instanceof ReplaceStep && step.from === step.to;
}

function contentOf(step: Step): Fragment {
  return step instanceof ReplaceStep || step instanceof ReplaceAroundStep
    ? step.slice.content
    : Fragment.empty;
}

/** Return the insertion of moved blocks with their current content, if the content has changed. */
function withContent(pending: Pending, content: Fragment | undefined): Pending {
  if (!content) return pending;
  const at = placeOf(pending.step);
  return { ...pending, step: new ReplaceStep(at, at, new Slice(content, 0, 0)) };
}

/** Return a step that sets an attribute, with the fields that others set in the meantime; null if there is no block with
 * this attribute; all other steps unchanged. */
function withOthers(
  doc: Node,
  { step, before }: Pick<Pending, "step" | "before">,
  mapped: Step | null,
): Step | null {
  if (!(mapped instanceof AttrStep && step instanceof AttrStep)) return mapped;
  const { pos, attr, value } = mapped;
  const [was, now] = [before.nodeAt(step.pos)!.attrs[attr], doc.nodeAt(pos)?.attrs[attr]];
  if (now === undefined) return null;
  const found = mergedFields(was, value, now);
  return same(found, value) ? mapped : new AttrStep(pos, attr, found);
}

const isFields = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Merge two changes of a value, field by field. If both changed the same text or number, the own one wins. */
function mergedFields(was: unknown, own: unknown, now: unknown): unknown {
  if (same(was, own)) return now;
  if (isFields(own) && isFields(now)) {
    const before = isFields(was) ? was : {};
    return Object.fromEntries(
      [...new Set([...Object.keys(now), ...Object.keys(own)])]
        .map((name) => [name, mergedFields(before[name], own[name], now[name])])
        .filter(([, value]) => value !== undefined),
    );
  }
  if (!Array.isArray(was) || !Array.isArray(own) || !Array.isArray(now)) return own;
  const isIn = (list: unknown[], each: unknown): boolean => list.some((other) => same(each, other));
  return [
    ...now.filter((each) => isIn(own, each) || !isIn(was, each)),
    ...own.filter((each) => !isIn(was, each) && !isIn(now, each)),
  ];
}

/** Return whether a value has a text that another one doesn't have. */
function bringsWords(was: unknown, value: unknown): boolean {
  if (typeof value === "string") return value !== "" && value !== was;
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, each]) => bringsWords((was as Json | null)?.[name], each));
}

/** Return whether an attribute is the key of a block or of a column. */
const isKey = (attr: string): boolean => attr === "key" || attr === "col";

/** Return whether a step fills in a field of a block. */
function setsWords({ pos, attr, value }: AttrStep, before: Node): boolean {
  const was = before.nodeAt(pos)?.attrs[attr];
  return !isKey(attr) && (bringsWords(was, value) || typeof value === "number" && value !== was);
}

/** Return the positions of the blocks that a step inserted or changed to another type, if they have fields that they
 * didn't have in an earlier document. */
function filledBy(step: Step, doc: Node, earlier: Node): number[] {
  const found: number[] = [];
  step.getMap().forEach((_from, _to, start, end) => {
    if (end === start) return;
    doc.nodesBetween(start, end, ({ attrs }, place) => {
      if (place < start || !bringsWords({}, attrs.data)) return;
      if (bringsWords(byKey(earlier, attrs.key)?.node.attrs.data ?? {}, attrs.data)) found.push(place);
    });
  });
  return found;
}

/** Set the fields of a node that undo moved back to their latest values. */
function fillFields(transaction: Transaction, at: number, was: Node, now: Node): void {
  if (was.type !== now.type) return;
  for (const [name, value] of Object.entries(now.attrs)) {
    if (!isKey(name) && bringsWords(was.attrs[name], value)) transaction.setNodeAttribute(at, name, value);
  }
  if (was.childCount !== now.childCount) return;
  was.forEach((child, offset, index) => fillFields(transaction, at + 1 + offset, child, now.child(index)));
}

/** Return the node whose attribute a step sets. */
function nodeWith(step: AttrStep, before: Node): Node {
  return step.apply(before).doc!.nodeAt(step.pos)!;
}

/** Return a block that fits on a page; the title of a part of a block, such as a tab, and the value of a cell become a
 * paragraph. */
function withTitle(node: Node): Node {
  const { schema } = node.type;
  const { data, value } = node.attrs;
  const words = [(data as Json | undefined)?.title, value].flat().filter((each) =>
    typeof each === "string" || typeof each === "number"
  ).join(", ");
  const isPart = !node.isInline && !schema.topNodeType.contentMatch.matchType(node.type);
  return isPart && words ? schema.nodes.paragraph!.create(null, schema.text(words)) : node;
}

/** Return the id of the person who removed the place of a step. */
function removerOf(
  mapping: Mapping,
  from: number,
  to: number,
  step: Step,
  ordered: Ordered[],
): string | undefined {
  const side = step instanceof AttrStep ? 1 : -1;
  let place = mapping.slice(from, to).map(placeOf(step), side);
  for (const { step, user } of ordered) {
    const { pos, deleted } = step.getMap().mapResult(place, side);
    if (deleted && user) return user;
    place = pos;
  }
  return undefined;
}

/** Return a transaction with received steps, mapped over pending ones. Return undefined if a received step has no
 * place there. */
function over(state: EditorState, pending: Pending[], ordered: Ordered[]): Transaction | undefined {
  if (
    ordered.length > MOST_STEPS || ordered.some(({ same, user }) => same === undefined && user === undefined)
  ) {
    return undefined;
  }
  const transaction = state.tr;
  const own = pending.map(({ step }) => step.getMap());
  const made: number[] = [];
  for (let at = 0; at < ordered.length; at++) {
    const { step, same } = ordered[at]!;
    made.push(-1);
    if (same !== undefined) continue;
    const mapping = new Mapping(ordered.slice(0, at).map(({ step }) => step.getMap().invert()).reverse());
    const mirrors = new Map(
      ordered.slice(0, at).map(({ same }, n) => [same ?? own.length + made[n]!, at - 1 - n]),
    );
    [...own, ...transaction.mapping.maps].forEach((map, n) => mapping.appendMap(map, mirrors.get(n)));
    const mapped = inFront(step, mapping);
    if (!mapped || !fits(transaction, mapped)) return undefined;
    made[at] = transaction.steps.length - 1;
  }
  return transaction;
}

/** Return a step at its mapped position, before text that was typed at exactly the same position, because pending
 * text follows it on the server, too. */
function inFront(step: Step, mapping: Mapping): Step | null {
  if (!(step instanceof ReplaceStep) || step.from !== step.to) return step.map(mapping);
  const { pos, deletedAcross } = mapping.mapResult(step.from, -1);
  return deletedAcross ? null : new ReplaceStep(pos, pos, step.slice);
}
