/**
 * The browser's half of the tests of `core/editor`: reads documents of the API from standard input as JSON, and prints what
 * the editor makes of each, and of random steps.
 */
import { Fragment, type Node, Slice } from "../../../web/node_modules/prosemirror-model/dist/index.js";
import {
  AttrStep,
  ReplaceAroundStep,
  ReplaceStep,
  Step,
  Transform,
} from "../../../web/node_modules/prosemirror-transform/dist/index.js";
import { isWritten, readDocument, writeDocument } from "../../../web/studio/document/convert.ts";
import { schema } from "../../../web/studio/document/schema.ts";

interface Asked {
  documents: unknown[];
  steps: number;
  seed: number;
}

let state = 1;

function random(below: number): number {
  // Mulberry32: the same numbers for the same seed.
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
}

function spot(doc: Node): number {
  return random(doc.content.size + 1);
}

function textSpot(doc: Node): number {
  const found: number[] = [];
  doc.descendants((node, pos) => {
    if (node.isTextblock) found.push(pos + 1 + random(node.content.size + 1));
  });
  return found.length ? found[random(found.length)]! : spot(doc);
}

/** Steps as editing makes them, and steps that no editor makes. */
function steps(doc: Node): Step[] {
  const tr = new Transform(doc);
  const at = textSpot(doc), other = textSpot(doc);
  const [from, to] = at < other ? [at, other] : [other, at];
  const near = Math.min(doc.content.size, at + random(6));
  const words = ["a", "wörter", "😀", " ", "🏳️‍🌈 x"][random(5)]!;
  const makers: (() => unknown)[] = [
    () => tr.insertText(words, at),
    () => tr.insertText(words, at, near),
    () => tr.delete(from, random(3) ? near : to),
    () => tr.split(at),
    () => tr.join(doc.resolve(at).before(1)),
    () => tr.addMark(from, to, schema.marks.bold!.create()),
    () => tr.removeMark(from, to, schema.marks.bold!),
    () => tr.addMark(from, to, schema.marks.link!.create({ uid: random(99), data: { ref: { kind: "url", url: "/" } } })),
    () => tr.setBlockType(from, to, schema.nodes.heading_2!, { key: null }),
    () => tr.setBlockType(from, to, schema.nodes.paragraph!),
    () => tr.clearIncompatible(doc.resolve(at).before(), schema.nodes.code_line!),
    () => tr.setNodeAttribute(doc.resolve(at).before(), "key", String(random(999))),
    () => tr.replaceRange(from, to, doc.slice(Math.min(near, at), Math.max(near, at))),
    () => {
      const $at = doc.resolve(at);
      const range = $at.blockRange()!;
      tr.wrap(range, [{ type: schema.nodes.blockquote! }]);
    },
    () => tr.lift(doc.resolve(at).blockRange()!, 0),
    () => {
      const index = random(doc.childCount);
      let pos = 0;
      for (let n = 0; n < index; n++) pos += doc.child(n).nodeSize;
      const node = doc.child(index);
      tr.delete(pos, pos + node.nodeSize).insert(0, node);
    },
    // Most of these fit nowhere.
    () => tr.step(new ReplaceStep(spot(doc), spot(doc), Slice.empty)),
    () => tr.step(new ReplaceStep(spot(doc), spot(doc), doc.slice(Math.min(at, near), Math.max(at, near)))),
    () => tr.step(new AttrStep(spot(doc), "key", "k")),
    () => {
      const node = schema.nodes.blockquote!.create();
      tr.step(new ReplaceAroundStep(from, to, from, to, new Slice(Fragment.from(node), 0, 0), 1));
    },
  ];
  try {
    makers[random(makers.length)]!();
  } catch {
    // The transform refuses some of them; the steps before count.
  }
  return tr.steps;
}

/** Any step with its places moved, which fits by chance. */
function moved(step: Step, doc: Node): object {
  const json = step.toJSON();
  const by = random(9) - 4;
  for (const name of ["from", "to", "gapFrom", "gapTo", "pos"]) {
    if (name in json) json[name] = Math.max(0, json[name] + (random(20) ? by : random(doc.content.size + 9)));
  }
  return json;
}

function isCut(doc: Node): boolean {
  let found = false;
  doc.descendants((node) => {
    found ||= node.isText && !node.text!.isWellFormed();
  });
  return found;
}

const asked: Asked = JSON.parse(await new Response(Deno.stdin.readable).text());
state = asked.seed;
const documents = [];
const found = [];
let given = 0;
for (const document of asked.documents) {
  const read = readDocument(document as never);
  documents.push({ editor: read.toJSON(), written: writeDocument(read) });
}
while (given < asked.steps) {
  let doc = readDocument(asked.documents[random(asked.documents.length)] as never);
  const start = doc.toJSON();
  const tried = [];
  for (let n = 0; n < 60 && given < asked.steps; n++) {
    for (const made of steps(doc)) {
      const json = random(4) ? made.toJSON() : moved(made, doc);
      let next: Node | null = null;
      try {
        next = Step.fromJSON(schema, json).apply(doc).doc;
        next?.check();
      } catch {
        next = null;
      }
      // A browser can cut a letter in two, which no text can hold.
      if (next !== null && isCut(next)) next = null;
      if (next !== null) doc = next;
      given++;
      tried.push({ step: json, fits: next !== null });
    }
  }
  found.push({ start, tried, end: doc.toJSON(), written: writeDocument(doc), blocks: doc.children.map(isWritten) });
}
const spec = {
  nodes: schema.spec.nodes.content.length / 2,
  names: [] as string[],
  shapes: {} as Record<string, unknown>,
  marks: {} as Record<string, unknown>,
};
schema.spec.nodes.forEach((name, node) => {
  spec.names.push(name);
  const { content, group, marks, inline, attrs } = node;
  spec.shapes[name] = { content: content ?? "", group, marks, inline, attrs };
});
schema.spec.marks.forEach((name, mark) => {
  spec.marks[name] = { attrs: mark.attrs };
});
console.log(JSON.stringify({ documents, runs: found, spec }));
