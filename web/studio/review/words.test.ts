import { describe, expect, it } from "vitest";
import { readTopBlock } from "../document/convert.ts";
import type { BlockJson } from "../document/types.ts";
import { compareTexts, compareWords, pageOf } from "./words.ts";

const leaves = (text: string) => [{ object: "text", leaves: [{ object: "leaf", text, marks: [] }] }];
const block = (type: string, nodes: unknown) =>
  readTopBlock({ object: "block", type, isVoid: false, data: {}, nodes } as unknown as BlockJson);
const paragraph = (text: string) => block("paragraph", leaves(text));
const code = (text: string) =>
  block(
    "code",
    text.split("\n").map((line) => ({
      object: "block",
      type: "code-line",
      isVoid: false,
      data: {},
      nodes: leaves(line),
    })),
  );

/** Return the marked words of the later version, and of the earlier one. */
function marked(before: ReturnType<typeof paragraph>, after: ReturnType<typeof paragraph>) {
  const { before: gone, after: fresh } = compareWords(before, after);
  const said = (node: typeof before, marks: typeof gone) =>
    marks.map(({ from, to }) => pageOf([node]).textBetween(from, to, "\n"));
  return { gone: said(before, gone), fresh: said(after, fresh) };
}

describe("words of two versions are compared", () => {
  it("a space after new words is not marked as new", () => {
    const found = marked(
      paragraph("It reads every second and sends."),
      paragraph("It reads in batches of ten and sends."),
    );
    expect(found).toEqual({ gone: ["every second"], fresh: ["in batches of ten"] });
  });

  it("code is compared line by line", () => {
    const found = marked(
      code('"Outbox": {\n  "Seconds": 1\n}'),
      code('"Outbox": {\n  "Size": 100,\n  "Seconds": 5\n}'),
    );
    expect(found.gone).toEqual(["1"]);
    expect(found.fresh).toContain('  "Size": 100,');
    expect(found.fresh).toContain("5");
    expect(found.fresh.some((one) => one.includes("Seconds"))).toBe(false);
  });
});

describe("words of two plain texts are compared", () => {
  it("texts with little in common are shown one after the other", () => {
    expect(compareTexts("How to start a server.", "One command, and your first page is there.")).toEqual([
      { kind: "del", text: "How to start a server." },
      { kind: "same", text: " " },
      { kind: "ins", text: "One command, and your first page is there." },
    ]);
    expect(compareTexts("How to start.", "How to begin.").map(({ kind }) => kind)).toEqual([
      "same",
      "del",
      "ins",
      "same",
    ]);
    expect(compareTexts("", "How to start.")).toEqual([{ kind: "ins", text: "How to start." }]);
  });
});
