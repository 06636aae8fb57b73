/** Underlines follow the text, and the server is asked as little as possible. */
import { history, undo } from "prosemirror-history";
import type { Node } from "prosemirror-model";
import { EditorState } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../../shared/client.ts";
import { schema } from "../document/schema.ts";
import type { Fault } from "./base.ts";
import { faultMarks, faultsKey } from "./faultmarks.ts";
import { PageChecks } from "./pagechecks.ts";
import { TextChecks } from "./textchecks.ts";

type Ask = ConstructorParameters<typeof TextChecks>[1];
type Texts = Parameters<Ask>[0]["texts"];
type Found = Awaited<ReturnType<Ask>>["findings"];

let view: EditorView;
let reported: Fault[][];
let asked: string[][];
let compared: string[][];
let compares: boolean;
let answer: (texts: Texts) => Promise<Found>;

/** Find "utilize", as a style guide does. */
function find(texts: Texts): Found {
  return texts.flatMap(({ text }, number) =>
    [...text.matchAll(/utilize|simply/g)].map((match) => ({
      text: number,
      start: match.index,
      end: match.index + match[0].length,
      kind: "style" as const,
      severity: "low" as const,
      title: "Use short words",
      message: "Use ‘use’.",
      replacement: match[0] === "utilize"
        ? { start: match.index, end: match.index + 7, text: "use" }
        : { start: match.index, end: match.index + 7, text: "" },
    }))
  );
}

/** Finds the second of two spellings, as a rule that compares parts of a page does. */
function compare(texts: Texts): Promise<Found> {
  const found = texts.flatMap(({ text }, number) =>
    [...text.matchAll(/e-?mail/g)].map((match) => ({
      text: number,
      start: match.index,
      end: match.index + match[0].length,
      kind: "style" as const,
      severity: "low" as const,
      title: "One spelling",
      message: "Choose one spelling.",
    }))
  );
  const isOther = (each: Found[number]) => each.end - each.start !== found[0]!.end - found[0]!.start;
  return Promise.resolve(found.filter(isOther).slice(0, 1));
}

const paragraph = (text: string): Node => schema.node("paragraph", null, text ? schema.text(text) : []);

function open(...blocks: Node[]): TextChecks {
  const place = document.body.appendChild(document.createElement("div"));
  const state = EditorState.create({
    doc: schema.node("doc", null, blocks),
    plugins: [history(), faultMarks()],
  });
  view = new EditorView(place, { state });
  return new TextChecks(view, async ({ texts, wholePage }) => {
    (wholePage ? compared : asked).push(texts.map(({ text }) => text));
    return { findings: await (wholePage ? compare : answer)(texts), comparesPage: compares };
  }, (faults) => reported.push(faults));
}

/** Return the underlined texts with their positions. */
function underlined(): [string, number][] {
  return faultsKey.getState(view.state)!.marks.find()
    .sort((one, other) => one.from - other.from)
    .map(({ from, to }) => [view.state.doc.textBetween(from, to), from]);
}

beforeEach(() => {
  vi.useFakeTimers();
  [reported, asked, compared, compares] = [[], [], [], false];
  answer = (texts) => Promise.resolve(find(texts));
});
afterEach(() => {
  view?.destroy();
  vi.useRealTimers();
  document.body.replaceChildren();
});

test("a page is checked once, and then only blocks that changed, after a pause", async () => {
  open(paragraph("You utilize it."), paragraph("All is well."));
  await vi.runAllTimersAsync();
  expect(asked).toEqual([["You utilize it.", "All is well."]]);
  expect(underlined()).toEqual([["utilize", 5]]);
  expect(reported.at(-1)!.map(({ words }) => words)).toEqual(["utilize"]);

  const end = view.state.doc.content.size - 1;
  for (const [at, letter] of [..." They utilize it."].entries()) {
    view.dispatch(view.state.tr.insertText(letter, end + at));
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(asked).toHaveLength(1);
  await vi.runAllTimersAsync();
  expect(asked.slice(1)).toEqual([["All is well. They utilize it."]]);
  expect(underlined().map(([words]) => words)).toEqual(["utilize", "utilize"]);
});

test("a cell that says that a value isn't known yet isn't checked", async () => {
  const cells = ["9", "TBD", "TODO"].map((text) => schema.node("table_cell", null, paragraph(text)));
  const heads = ["A", "B", "C"].map((text) => schema.node("table_heading", null, schema.text(text)));
  const rows = [schema.node("table_head", null, heads), schema.node("table_row", null, cells)];
  open(schema.node("table", null, rows), paragraph("TBD."));
  await vi.runAllTimersAsync();
  expect(asked.flat()).toEqual(["9", "TODO", "TBD."]);
});

test("rules that compare parts of a page see the whole page after each change", async () => {
  compares = true;
  open(paragraph("Send an email."), paragraph("All is well."), paragraph("Read the e-mail."));
  await vi.runAllTimersAsync();
  expect(compared).toEqual([["Send an email.", "All is well.", "Read the e-mail."]]);
  expect(underlined().map(([words]) => words)).toEqual(["e-mail"]);
  // The changed paragraph alone decides about another one.
  view.dispatch(view.state.tr.insertText("-", 10));
  await vi.runAllTimersAsync();
  expect(asked.slice(1)).toEqual([["Send an e-mail."]]);
  expect(compared.slice(1)).toEqual([["Send an e-mail.", "All is well.", "Read the e-mail."]]);
  expect(underlined()).toEqual([]);
  view.dispatch(view.state.tr.insert(0, paragraph("Your email.")));
  await vi.runAllTimersAsync();
  expect(underlined().map(([words]) => words)).toEqual(["e-mail"]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(compared).toHaveLength(3);
});

test("a page that is too long isn't compared", async () => {
  compares = true;
  open(...Array.from({ length: 6 }, (_, at) => paragraph(`${at} email, e-mail. ${"word ".repeat(4_000)}`)));
  await vi.runAllTimersAsync();
  expect(compared).toEqual([]);
  expect(asked.flat()).toHaveLength(6);
});

test("underlines move with the steps of others, and end with their words", async () => {
  open(paragraph("You utilize it."), paragraph("They utilize it."));
  await vi.runAllTimersAsync();
  const { doc } = view.state;
  view.dispatch(view.state.tr.insert(0, paragraph("New.")).insertText("Today, ", 7));
  expect(underlined()).toEqual([["utilize", 18], ["utilize", 36]]);
  view.dispatch(view.state.tr.insertText("x", 20));
  expect(underlined()).toEqual([["utilize", 37]]);
  view.dispatch(view.state.tr.delete(0, view.state.doc.content.size));
  expect(underlined()).toEqual([]);
  // Known texts are underlined at once when they are back.
  view.dispatch(view.state.tr.replaceWith(0, view.state.doc.content.size, doc.content));
  expect(underlined()).toEqual([["utilize", 5], ["utilize", 23]]);
  expect(asked).toHaveLength(1);
});

test("underlines are never part of the document or of a step", async () => {
  const { doc } = (open(paragraph("You utilize it.")), view.state);
  await vi.runAllTimersAsync();
  expect(underlined()).toHaveLength(1);
  expect(view.state.doc.eq(doc)).toBe(true);
  expect(undo(view.state)).toBe(false);
});

test("there is one request at a time, and text written meanwhile is checked afterwards", async () => {
  const answers: (() => void)[] = [];
  answer = (texts) => new Promise((resolve) => answers.push(() => resolve(find(texts))));
  open(paragraph("You utilize it."));
  await vi.advanceTimersByTimeAsync(0);
  for (const letter of "abc") {
    view.dispatch(view.state.tr.insertText(letter, 1));
    await vi.advanceTimersByTimeAsync(5_000);
  }
  expect(asked).toHaveLength(1);
  answers.shift()!();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(asked).toEqual([["You utilize it."], ["cbaYou utilize it."]]);
  expect(underlined()).toEqual([]);
  answers.shift()!();
  await vi.runAllTimersAsync();
  expect(underlined()).toEqual([["utilize", 8]]);
});

test("a large page is checked in several requests of limited size", async () => {
  open(...Array.from({ length: 300 }, (_, at) => paragraph(`${at} ${"word ".repeat(60)}`)));
  await vi.runAllTimersAsync();
  expect(asked.flat()).toHaveLength(300);
  expect(asked.length).toBeGreaterThan(1);
  for (const texts of asked) expect(texts.join("").length).toBeLessThanOrEqual(20_000);
});

test("code and other objects keep their places without their words", async () => {
  const bare = schema.text("utilize", [schema.mark("code")]);
  const line = schema.node("paragraph", null, [
    schema.text("Run "),
    bare,
    schema.node("hard_break"),
    schema.text("and utilize it."),
  ]);
  open(line, schema.node("code_block", null, [schema.node("code_line", null, schema.text("utilize"))]));
  await vi.runAllTimersAsync();
  expect(asked).toEqual([["Run ```````\nand utilize it."]]);
  expect(underlined()).toEqual([["utilize", 17]]);
});

test("a fix is an edit that can be undone", async () => {
  const checks = open(paragraph("You simply utilize it."));
  await vi.runAllTimersAsync();
  expect(underlined()).toEqual([["simply", 5], ["utilize", 12]]);
  const press = (): void => document.querySelector<HTMLElement>(".fault-box .primary")!.click();
  checks.show(reported.at(-1)![0]!);
  expect(document.querySelector(".fault-box .primary")!.textContent).toContain("simply");
  press();
  expect(view.state.doc.textContent).toBe("You utilize it.");
  checks.openNext();
  press();
  expect(view.state.doc.textContent).toBe("You use it.");
  expect(document.querySelector(".fault-box")).toBeNull();
  undo(view.state, view.dispatch);
  undo(view.state, view.dispatch);
  expect(view.state.doc.textContent).toBe("You simply utilize it.");
});

test("blocks with the same text are separate findings", async () => {
  const checks = open(paragraph("You utilize it."), paragraph("You utilize it."));
  await vi.runAllTimersAsync();
  const [first, second] = reported.at(-1)!;
  expect(asked).toEqual([["You utilize it."]]);
  expect(first).not.toBe(second);
  checks.show(second!);
  expect(view.state.selection.head).toBe(22);
});

test("checks end when the style guide is gone, and wait when the server fails", async () => {
  answer = () => Promise.reject(new ApiError(503, "Busy"));
  open(paragraph("You utilize it."));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toHaveLength(1);
  answer = () => Promise.reject(new ApiError(404, "Gone"));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(asked).toHaveLength(2);
  view.dispatch(view.state.tr.insertText("x", 1));
  await vi.runAllTimersAsync();
  expect(asked).toHaveLength(2);
});

test("without a style guide, nothing is asked", async () => {
  const fetched = vi.spyOn(globalThis, "fetch");
  const place = document.body.appendChild(document.createElement("div"));
  const state = EditorState.create({
    doc: schema.node("doc", null, [paragraph("You utilize it.")]),
    plugins: [faultMarks()],
  });
  view = new EditorView(place, { state });
  const checks = new PageChecks(() => view, "page");
  const heard = vi.fn();
  checks.follow(heard);
  view.dispatch(view.state.tr.insertText("x", 1));
  await vi.runAllTimersAsync();
  expect(fetched).not.toHaveBeenCalled();
  expect(heard).not.toHaveBeenCalled();
});
