/** Compares the words of two versions of a block, and marks the differences in its rendering. */
import type { Mark, Node } from "prosemirror-model";
import { Decoration } from "prosemirror-view";
import { schema } from "../document/schema.ts";
import { h } from "../editor/dom.ts";

interface Token {
  /** The text that must be equal for two tokens to match. */
  says: string;
  from: number;
  to: number;
  /** A word or character; an inline that isn't text; the start of a line or block; a block without text. */
  kind: "word" | "inline" | "line" | "block";
  marks: string;
  code: boolean;
}

/** Marks for rendering two versions: each separately, and the later one with the removed text inserted. */
export interface Compared {
  before: Decoration[];
  after: Decoration[];
  inline: Decoration[];
  /** The proportion of the text that is unchanged, from 0 to 1. */
  alike: number;
  /** Whether only settings of the block differ, not its text. */
  settings: boolean;
}

/** The maximum number of differences within a block. Above it, the two versions are shown one below the other. */
const DIFFERENCES_MAX = 1500;
const WORD = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;

/** Return a separate page for some blocks. The positions of decorations refer to it. */
export const pageOf = (nodes: Node[]): Node => schema.nodes.doc!.create(null, nodes);

const marksOf = (marks: readonly Mark[]): string =>
  marks.map(({ type, attrs: { uid: _, key: __, at: ___, ...attrs } }) => type.name + JSON.stringify(attrs))
    .join();

function tokensOf(block: Node): Token[] {
  const found: Token[] = [];
  pageOf([block]).descendants((node, from) => {
    const to = from + node.nodeSize;
    if (node.isText) {
      const marks = marksOf(node.marks);
      const code = node.marks.some((mark) => mark.type.name === "code");
      for (const match of node.text!.matchAll(WORD)) {
        const start = from + match.index;
        found.push({ says: match[0], from: start, to: start + match[0].length, kind: "word", marks, code });
      }
    } else if (node.isTextblock) {
      found.push({ says: `line ${node.type.name}`, from, to, kind: "line", marks: "", code: false });
    } else if (node.isLeaf || /^(image|file|embed)$/.test(node.type.name)) {
      const { key: _, meta: __, ...attrs } = node.attrs;
      found.push({
        says: `${node.type.name} ${JSON.stringify(attrs)}`,
        from,
        to,
        kind: node.isInline ? "inline" : "block",
        marks: node.isInline ? marksOf(node.marks) : "",
        code: false,
      });
    }
  });
  return found;
}

/** Return the index of each later token's match among the earlier ones, or -1 (Myers, 1986). */
export function pair(old: string[], now: string[]): number[] {
  const found = new Array<number>(now.length).fill(-1);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) found[start] = start++;
  let oldEnd = old.length;
  let nowEnd = now.length;
  while (oldEnd > start && nowEnd > start && old[oldEnd - 1] === now[nowEnd - 1]) found[--nowEnd] = --oldEnd;
  const [n, m] = [oldEnd - start, nowEnd - start];
  const ways: Int32Array[] = [];
  const most = Math.min(n + m, DIFFERENCES_MAX);
  const reach = new Int32Array(2 * most + 3);
  const zero = most + 1;
  for (let d = 0; d <= most; d++) {
    ways.push(reach.slice(zero - d - 1, zero + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && reach[zero + k - 1]! < reach[zero + k + 1]!);
      let x = down ? reach[zero + k + 1]! : reach[zero + k - 1]! + 1;
      while (x < n && x - k < m && old[start + x] === now[start + x - k]) x++;
      reach[zero + k] = x;
      if (x < n || x - k < m) continue;
      // Trace back from the end.
      let [a, b] = [n, m];
      for (let step = d; step >= 0; step--) {
        const way = ways[step]!;
        const at = a - b;
        const wasDown = at === -step || (at !== step && way[at + step]! < way[at + step + 2]!);
        const previous = wasDown ? at + 1 : at - 1;
        const cameFrom = step ? way[previous + step + 1]! : 0;
        const stop = step ? (wasDown ? cameFrom : cameFrom + 1) : 0;
        while (a > stop) found[start + --b] = start + --a;
        a = cameFrom;
        b = cameFrom - previous;
      }
      return found;
    }
  }
  return found;
}

/** Include spaces between two differences, so that consecutive new words are one change. */
function withoutLoneBlanks(now: Token[], pairs: number[]): void {
  // A blank that is the same before and after new words is the one after them.
  for (let at = now.length - 2; at > 0; at--) {
    if (pairs[at]! < 0 || pairs[at - 1]! >= 0 || now[at]!.says.trim() !== "") continue;
    let end = at;
    while (end + 1 < now.length && pairs[end + 1]! < 0) end++;
    if (end === at || now[end]!.says !== now[at]!.says) continue;
    pairs[end] = pairs[at]!;
    pairs[at] = -1;
  }
  const kept = new Set(pairs);
  for (let at = 1; at < now.length - 1; at++) {
    if (pairs[at]! < 0 || now[at]!.says.trim() !== "") continue;
    const from = pairs[at]!;
    const fresh = pairs[at - 1]! < 0 && pairs[at + 1]! < 0;
    const gone = !kept.has(from - 1) || !kept.has(from + 1);
    if (fresh && gone) pairs[at] = -1;
  }
}

function removedWords(tokens: Token[], block: boolean): HTMLElement {
  const place = h("del", { class: block ? "whole" : "" });
  let run: { code: boolean; text: string } | undefined;
  const tell = (): void => {
    if (run) place.append(run.code ? h("code", {}, run.text) : run.text);
  };
  for (const { says, code, kind } of tokens) {
    if (kind === "line") continue;
    const text = kind === "word" ? says : "▢";
    if (run?.code === code) run.text += text;
    else {
      tell();
      run = { code, text };
    }
  }
  tell();
  return place;
}

type Look = "ins" | "del";

/** Mark the text of consecutive tokens. A whole line or block is also marked as a whole. */
function mark(tokens: Token[], chosen: (at: number) => boolean, look: Look): Decoration[] {
  const found: Decoration[] = [];
  for (let at = 0; at < tokens.length; at++) {
    if (!chosen(at)) continue;
    const token = tokens[at]!;
    if (token.kind === "line" || token.kind === "block") {
      found.push(Decoration.node(token.from, token.to, { class: `${look}-whole` }));
      continue;
    }
    const { from } = token;
    let to = token.to;
    while (chosen(at + 1) && tokens[at + 1]?.from === to && /word|inline/.test(tokens[at + 1]!.kind)) {
      to = tokens[++at]!.to;
    }
    found.push(Decoration.inline(from, to, { nodeName: look }));
  }
  return found;
}

/** Mark a whole block as added or removed. */
export const markAll = (block: Node, look: Look): Decoration[] =>
  mark(tokensOf(block).filter(({ kind }) => kind !== "line"), (at) => at >= 0, look);

interface Line {
  from: number;
  tokens: Token[];
}

/** Return each token with the line that it starts. */
function linesOf(tokens: Token[]): Line[] {
  const found: Line[] = [];
  tokens.forEach((token, at) => {
    if (token.kind === "line" || !found.length) found.push({ from: at, tokens: [] });
    found.at(-1)!.tokens.push(token);
  });
  return found;
}

const saysOf = ({ tokens }: Line): string => tokens.map(({ says }) => says).join("");

/** The minimum proportion of words that two lines must share to be treated as one changed line. */
const LIKE = .5;
/** The maximum number of pairs of lines between two unchanged lines. Above it, no lines are treated as changed. */
const LINES_MAX = 2500;

/** Return the proportion of words that two lines share, from 0 to 1. */
function likeness(one: Line, other: Line): number {
  const words = ({ tokens }: Line) =>
    tokens.filter(({ kind, says }) => kind !== "line" && says.trim()).map(({ says }) => says);
  const [old, now] = [words(one), words(other)];
  const same = pair(old, now).filter((at) => at >= 0).length;
  return old.length + now.length ? 2 * same / (old.length + now.length) : 1;
}

/** Return the pairs of lines, in order, that have the most in common. */
function likest(old: Line[], now: Line[]): [number, number][] {
  if (old.length * now.length > LINES_MAX) return [];
  const best = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0));
  const like = old.map((one) => now.map((other) => likeness(one, other)));
  for (let a = old.length - 1; a >= 0; a--) {
    for (let b = now.length - 1; b >= 0; b--) {
      const both = like[a]![b]! >= LIKE ? like[a]![b]! + best[a + 1]![b + 1]! : 0;
      best[a]![b] = Math.max(both, best[a + 1]![b]!, best[a]![b + 1]!);
    }
  }
  const found: [number, number][] = [];
  for (let a = 0, b = 0; a < old.length && b < now.length;) {
    const value = best[a]![b]!;
    if (value === best[a + 1]![b]) a++;
    else if (value === best[a]![b + 1]) b++;
    else found.push([a++, b++]);
  }
  return found;
}

/** Compare code line by line: a line is compared with one line, never with two. */
function pairCode(old: Token[], now: Token[]): number[] {
  const found = new Array<number>(now.length).fill(-1);
  const [oldLines, nowLines] = [linesOf(old), linesOf(now)];
  const same = pair(oldLines.map(saysOf), nowLines.map(saysOf));
  const take = (from: Line, line: Line): void => {
    const pairs = pair(from.tokens.map(({ says }) => says), line.tokens.map(({ says }) => says));
    pairs.forEach((place, at) => {
      if (place >= 0) found[line.from + at] = from.from + place;
    });
  };
  let [oldFrom, nowFrom] = [0, 0];
  for (let at = 0; at <= nowLines.length; at++) {
    const place = at < nowLines.length ? same[at]! : oldLines.length;
    if (place < 0) continue;
    const [gone, fresh] = [oldLines.slice(oldFrom, place), nowLines.slice(nowFrom, at)];
    for (const [a, b] of likest(gone, fresh)) take(gone[a]!, fresh[b]!);
    if (at < nowLines.length) take(oldLines[place]!, nowLines[at]!);
    [oldFrom, nowFrom] = [place + 1, at + 1];
  }
  return found;
}

export function compareWords(before: Node, after: Node): Compared {
  const old = tokensOf(before);
  const now = tokensOf(after);
  const isCode = after.type.name === "code_block" && before.type === after.type;
  const pairs = isCode ? pairCode(old, now) : pair(old.map(({ says }) => says), now.map(({ says }) => says));
  withoutLoneBlanks(now, pairs);
  const kept = new Set(pairs);
  const isNew = (at: number): boolean => pairs[at] === -1;
  const isGone = (at: number): boolean => at < old.length && !kept.has(at);
  const added = mark(now, isNew, "ins");
  const restyled = pairs.flatMap((from, at) => {
    const token = now[at]!;
    return from >= 0 && token.marks !== old[from]!.marks
      ? [Decoration.inline(token.from, token.to, { class: "restyled" })]
      : [];
  });
  const removed: Decoration[] = [];
  let behind = 0;
  const place = new Map(pairs.map((from, at) => [from, at]));
  for (let at = 0; at < old.length; at++) {
    if (!isGone(at)) {
      behind = place.get(at)! + 1;
      continue;
    }
    const run = [old[at]!];
    while (isGone(at + 1) && old[at + 1]!.kind !== "line") run.push(old[++at]!);
    const whole = run[0]!.kind === "line" || run[0]!.kind === "block";
    if (run.every(({ kind }) => kind === "line")) continue;
    const previous = now[behind - 1];
    const next = now[behind];
    const spot = previous?.kind === "line"
      ? previous.from + 1
      : previous && previous.kind !== "block"
      ? previous.to
      : next?.kind === "line"
      ? next.from + 1
      : next?.from ?? 0;
    removed.push(Decoration.widget(spot, () => removedWords(run, whole), { side: -1, marks: [] }));
  }
  const size = (tokens: Token[], wanted: (at: number) => boolean): number =>
    tokens.reduce((sum, { kind, says }, at) => sum + (wanted(at) && kind !== "line" ? says.length : 0), 0);
  const whole = Math.max(size(old, () => true), size(now, () => true));
  return {
    before: mark(old, isGone, "del"),
    after: [...added, ...restyled],
    inline: [...added, ...restyled, ...removed],
    alike: whole ? size(now, (at) => !isNew(at)) / whole : 1,
    settings: !added.length && !removed.length && !restyled.length,
  };
}

/** The minimum proportion of equal words. Below it, two texts are shown one after the other. */
export const ALIKE = .3;

/** Return the words of two plain texts: equal, added, and removed. */
export function compareTexts(before: string, after: string): { kind: "same" | Look; text: string }[] {
  const old = before.match(WORD) ?? [];
  const now = after.match(WORD) ?? [];
  const pairs = pair(old, now);
  const found: { kind: "same" | Look; text: string }[] = [];
  const tell = (kind: "same" | Look, text: string): void => {
    if (!text) return;
    if (found.at(-1)?.kind === kind) found.at(-1)!.text += text;
    else found.push({ kind, text });
  };
  now.forEach((word, at) => {
    // A blank between two differences is part of them.
    if (at && !word.trim() && pairs[at - 1]! < 0 && pairs[at + 1]! < 0) pairs[at] = -1;
  });
  let next = 0;
  let fresh = "";
  const until = (from: number): void => {
    tell("del", old.slice(next, from).join(""));
    tell("ins", fresh);
    fresh = "";
    next = from + 1;
  };
  now.forEach((word, at) => {
    const from = pairs[at]!;
    if (from < 0) return fresh += word;
    until(from);
    tell("same", word);
  });
  until(old.length);
  const sizeOf = (wanted: "same" | Look): number =>
    found.reduce((sum, { kind, text }) => sum + (kind === wanted ? text.length : 0), 0);
  const [same, longer] = [sizeOf("same"), Math.max(before.length, after.length)];
  if (!before || !after || same >= ALIKE * longer) return found;
  return [
    { kind: "del", text: before },
    { kind: "same", text: before.includes("\n") ? "\n" : " " },
    { kind: "ins", text: after },
  ];
}
