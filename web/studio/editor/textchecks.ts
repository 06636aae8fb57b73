/** Asks the server what checks find in changed text, after a pause and with one request at a time, and explains the
 * findings. */
import type { Node } from "prosemirror-model";
import { type EditorState, TextSelection, type Transaction } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { ApiError, type Schemas } from "../../shared/client.ts";
import { checkSiteTexts } from "../api/findings.ts";
import type { SitePath } from "../api/sites.ts";
import type { Fault } from "./base.ts";
import { FaultBox } from "./faultbox.ts";
import { faultsKey } from "./faultmarks.ts";
import { readInput } from "./pendinginput.ts";
import { reveal } from "./richviews.ts";

/** The number of milliseconds after the last change before the text is checked. */
const PAUSE = 1_000;
/** The number of milliseconds before a failed request is repeated. */
const RETRY = 30_000;
/** The maximum number of texts in a request. */
const MOST_TEXTS = 200;
const MOST_CHARACTERS = 20_000;
/** The most that a page contains whose parts are compared. The server accepts no more. */
const MOST_PAGE_TEXTS = 2_000;
const MOST_PAGE_CHARACTERS = 100_000;
/** The length of a text that isn't checked, because the server doesn't accept it. */
const TOO_LONG = 50_000;
const MOST_MARKS = 300;
/** The number of texts whose findings are cached, in addition to those of the page. */
const MOST_KNOWN = 2_000;

const PROSE = /^(paragraph|heading_\d)$/;
/** Cells that say that a value isn't known yet. */
const UNKNOWN = /^[^\p{L}\d]*(TBD|TBA|TBC)[^\p{L}\d]*$/u;

type Request = Schemas["CheckSiteTexts"];
type Findings = Schemas["TextFindings"];
type Ask = (request: Request) => Promise<Findings>;
type Prose = { key: string; text: string; heading: boolean };

/** Return the function that checks texts of a page against the style guide of a site. */
export function asking(site: SitePath, page: string): Ask {
  return (request) => checkSiteTexts(site, request, { query: { page } });
}

/** Return the text of a block, with one character for each position. Code is hidden, because no rule applies to it. */
function textOf(block: Node): string {
  let text = "";
  block.forEach((child) => {
    const isCode = child.marks.some(({ type }) => type.name === "code" || type.name === "keyboard");
    if (child.isText) text += isCode ? "`".repeat(child.nodeSize) : child.text!;
    else text += (child.type.name === "hard_break" ? "\n" : "\ufffc").repeat(child.nodeSize);
  });
  return text;
}

const isHeading = (block: Node): boolean => block.type.name !== "paragraph";
const keyOf = (block: Node, text: string): string => (isHeading(block) ? "# " : "") + text;

type Each = (block: Node, start: number, text: string) => void;

/** Call a function with each text block that contains prose, in a part of a page. */
function eachProse(doc: Node, from: number, to: number, each: Each): void {
  doc.nodesBetween(from, to, (node, position, parent) => {
    const isUnknown = parent?.type.name === "table_cell" && UNKNOWN.test(node.textContent);
    if (PROSE.test(node.type.name) && !isUnknown) each(node, position + 1, textOf(node));
    return !node.isTextblock;
  });
}

export class TextChecks {
  /** The findings of texts that were checked. */
  readonly #known = new Map<string, Fault[]>();
  /** The findings of rules that compare parts of the page, by text; of the page as it was last compared. */
  #compared = new Map<string, Fault[]>();
  #comparedDoc: Node | undefined;
  #compares = false;
  readonly #box: FaultBox;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #telling: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;
  #isOutdated = false;
  #isStopped = false;

  /** `ask` checks texts. `tell` is called with the findings in text order when they change. */
  constructor(readonly view: EditorView, readonly ask: Ask, readonly tell: (faults: Fault[]) => void) {
    this.#box = new FaultBox(view, {
      find: (fault) => this.#marks().find((mark) => mark.spec.fault === fault),
      fix: (fault) => this.#fix(fault),
      next: () => this.openNext(),
    });
    view.dispatch(readInput(view).tr.setMeta(faultsKey, { checks: this }));
    this.#plan(0);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#telling);
    this.#box.close();
    if (this.view.isDestroyed) return;
    const ended = { marks: DecorationSet.empty, checks: undefined };
    this.view.dispatch(readInput(this.view).tr.setMeta(faultsKey, ended));
    this.tell([]);
  }

  update(before: EditorState): void {
    const { state } = this.view;
    if (state.doc !== before.doc) this.#plan(PAUSE);
    if (faultsKey.getState(state)!.marks === faultsKey.getState(before)!.marks) return;
    this.#box.follow();
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      this.tell(this.#marks().map((mark) => mark.spec.fault));
    }, 300);
  }

  /** Explain the finding at a position. The focus stays in the text. */
  openAt(position: number): void {
    const mark = this.#marks().find(({ from, to }) => from <= position && position <= to);
    if (mark) this.#box.open(mark.spec.fault, false);
  }

  openNext(): void {
    const marks = this.#marks();
    const { head } = this.view.state.selection;
    const next = this.#box.fault
      ? marks[marks.findIndex((mark) => mark.spec.fault === this.#box.fault) + 1]
      : marks.find(({ to }) => to >= head);
    const mark = next ?? marks[0];
    if (mark) this.show(mark.spec.fault);
  }

  /** Move the caret to a finding and explain it. */
  show(fault: Fault): void {
    const mark = this.#marks().find((mark) => mark.spec.fault === fault);
    if (!mark) return;
    const { state } = this.view;
    reveal(this.view, mark.from);
    this.view.focus();
    this.view.dispatch(
      state.tr.setSelection(TextSelection.create(state.doc, mark.from)).scrollIntoView(),
    );
    this.#box.open(fault, true);
  }

  #marks(): Decoration[] {
    return faultsKey.getState(this.view.state)!.marks.find().sort((one, other) => one.from - other.from);
  }

  /** Apply the fix of a finding as the person's own edit. */
  #fix(fault: Fault): void {
    const mark = this.#marks().find((mark) => mark.spec.fault === fault);
    const { replacement } = fault;
    if (mark && replacement) {
      const { tr, doc } = this.view.state;
      const $mark = doc.resolve(mark.from);
      const start = $mark.parentOffset - fault.start;
      const [from, to] = [start + replacement.start, start + replacement.end];
      // The words around the finding may have changed since the check.
      if (textOf($mark.parent).slice(from, to) === fault.replaced) {
        const place = $mark.start();
        if (replacement.text) tr.insertText(replacement.text, place + from, place + to);
        else tr.delete(place + from, place + to);
        tr.setSelection(TextSelection.create(tr.doc, place + from + replacement.text.length));
        this.view.dispatch(tr.scrollIntoView());
      }
    }
    this.view.focus();
  }

  #plan(wait: number): void {
    clearTimeout(this.#timer);
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#run(), wait);
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    // New underlines would disturb the letters that the person is composing.
    if (this.view.composing) return this.#plan(PAUSE);
    if (this.#isOutdated) this.#show();
    const unknown = this.#unknown();
    const { doc } = this.view.state;
    if (!unknown.length && (!this.#compares || doc === this.#comparedDoc)) return;
    this.#isRunning = true;
    let wait = 0;
    try {
      if (unknown.length) {
        for (const [key, faults] of await this.#check(unknown, false)) this.#known.set(key, faults);
      } else {
        const page = this.#prose(doc);
        const size = page.reduce((sum, { text }) => sum + text.length, 0);
        const isSmall = page.length <= MOST_PAGE_TEXTS && size <= MOST_PAGE_CHARACTERS;
        this.#compared = isSmall && page.length ? await this.#check(page, true) : new Map();
        this.#comparedDoc = doc;
      }
      this.#isOutdated = true;
    } catch (error) {
      // The site, its style guide, or the access to it is gone.
      if (error instanceof ApiError && [400, 403, 404].includes(error.status)) return this.stop();
      wait = RETRY;
    } finally {
      this.#isRunning = false;
    }
    this.#plan(wait);
  }

  /** Return the findings in texts. `wholePage`: whether they are all texts of the page, which are compared. */
  async #check(blocks: Prose[], wholePage: boolean): Promise<Map<string, Fault[]>> {
    const texts = blocks.map(({ text, heading }) => ({ text, heading }));
    const { findings, comparesPage } = await this.ask({ texts, wholePage });
    this.#compares = comparesPage;
    return new Map(blocks.map(({ key, text }, number) => {
      const found = findings.filter((each) => each.text === number && each.end > each.start);
      return [
        key,
        found.map((each): Fault => ({
          ...each,
          words: text.slice(each.start, each.end),
          replaced: each.replacement && text.slice(each.replacement.start, each.replacement.end),
        })),
      ];
    }));
  }

  /** Return the texts of a page that can be checked, each once. */
  #prose(doc: Node): Prose[] {
    const found = new Map<string, Prose>();
    eachProse(doc, 0, doc.content.size, (block, _, text) => {
      const key = keyOf(block, text);
      if (text.trim() && text.length <= TOO_LONG) found.set(key, { key, text, heading: isHeading(block) });
    });
    return [...found.values()];
  }

  /** Return texts that weren't checked yet, as many as fit into a request. */
  #unknown(): Prose[] {
    const found: Prose[] = [];
    let size = 0;
    for (const prose of this.#prose(this.view.state.doc)) {
      if (this.#known.has(prose.key)) continue;
      if (found.length && size + prose.text.length > MOST_CHARACTERS || found.length >= MOST_TEXTS) continue;
      size += prose.text.length;
      found.push(prose);
    }
    return found;
  }

  /** Underline all that is known. */
  #show(): void {
    this.#isOutdated = false;
    const state = readInput(this.view);
    const { marks } = faultsKey.getState(state)!;
    const shown: Decoration[] = [];
    const keys = new Set<string>();
    eachProse(state.doc, 0, state.doc.content.size, (block, start, text) => {
      keys.add(keyOf(block, text));
      if (shown.length < MOST_MARKS) shown.push(...this.#marksOf(marks, block, start, text));
    });
    if (this.#known.size > keys.size + MOST_KNOWN) {
      for (const key of this.#known.keys()) if (!keys.has(key)) this.#known.delete(key);
    }
    this.view.dispatch(state.tr.setMeta(faultsKey, { marks: DecorationSet.create(state.doc, shown) }));
  }

  /** Return the underlines of a block: those of its text, or the earlier ones whose words are still there. */
  #marksOf(marks: DecorationSet, block: Node, start: number, text: string): Decoration[] {
    const key = keyOf(block, text);
    const known = this.#known.get(key);
    const before = marks.find(start, start + block.content.size);
    if (known) {
      return [...known, ...this.#compared.get(key) ?? []].map((fault) =>
        before.find((mark) => mark.spec.of === fault && mark.from === start + fault.start) ??
          Decoration.inline(
            start + fault.start,
            start + fault.end,
            { class: `fault ${fault.kind}` },
            // Blocks with the same text have the same findings, but each is shown in its place.
            { of: fault, fault: { ...fault } },
          )
      );
    }
    return before.filter(({ from, to, spec }) => text.slice(from - start, to - start) === spec.fault.words);
  }

  refit(marks: DecorationSet, { mapping, doc }: Transaction): DecorationSet {
    let fitted = marks.map(mapping, doc);
    mapping.maps.forEach((map, number) => {
      const rest = mapping.slice(number + 1);
      map.forEach((_, __, from, to) =>
        eachProse(doc, rest.map(from, -1), rest.map(to, 1), (block, start, text) => {
          const now = this.#marksOf(fitted, block, start, text);
          const old = fitted.find(start, start + block.content.size);
          if (old.length || now.length) fitted = fitted.remove(old).add(doc, now);
        })
      );
    });
    return fitted;
  }
}
