import { type Node } from "prosemirror-model";
import { type Command, EditorState, NodeSelection, TextSelection } from "prosemirror-state";
import { expect, test } from "vitest";
import { writeBlock } from "../document/convert.ts";
import { schema } from "../document/schema.ts";
import {
  cellKeys,
  CellSelection,
  clearChosen,
  deleteChosenLines,
  selectColumns,
  selectRows,
} from "./cells.ts";
import { readTabbed } from "./clipboard.ts";
import { mergedCells } from "./grid.ts";
import { mergeCells, splitCells } from "./mergedcells.ts";
import {
  deleteColumns,
  duplicateColumns,
  duplicateRows,
  insertColumn,
  moveColumns,
  newTable,
  pasteCells,
  setColumnType,
  sortRows,
  textOfCell,
} from "./tablecommands.ts";

/** Return a page with a paragraph and a table at position 2 with these texts; the first row is the header. */
function page(...rows: string[][]): EditorState {
  const [head, ...body] = rows;
  const table = newTable(head!.length, body.length, head);
  const doc = schema.topNodeType.create(null, [schema.nodes.paragraph!.create(), table]);
  const state = EditorState.create({ doc });
  const transaction = state.tr;
  pasteCells(transaction, 2, { row: 1, column: 0 }, body.map((row) => row.map((text) => ({ text }))));
  return state.apply(transaction);
}

const AT = 2;
const table = (state: EditorState): Node => state.doc.nodeAt(AT)!;

function words(state: EditorState): string[][] {
  const found: string[][] = [];
  table(state).forEach((row) => {
    const cells: string[] = [];
    row.forEach((cell) => cells.push(textOfCell(cell)));
    found.push(cells);
  });
  return found;
}

function choose(state: EditorState, top: number, left: number, bottom = top, right = left): EditorState {
  return state.apply(
    state.tr.setSelection(CellSelection.of(state.doc, AT, { top, left, bottom, right })),
  );
}

function run(state: EditorState, command: Command): EditorState {
  let after = state;
  expect(command(state, (transaction) => (after = state.apply(transaction)))).toBe(true);
  after.doc.check();
  return after;
}

const GRID = () => page(["A", "B", "C"], ["a1", "b1", "c1"], ["a2", "b2", "c2"], ["a3", "b3", "c3"]);

test("selected cells are a rectangle, whichever corner was first", () => {
  const state = GRID();
  const at = (row: number, column: number) =>
    CellSelection.of(state.doc, AT, { top: row, bottom: row, left: column, right: column }).$first.pos;
  const selection = CellSelection.create(state.doc, at(3, 2), at(1, 1));
  expect(selection.rectangle).toEqual({ top: 1, bottom: 3, left: 1, right: 2 });
  expect(selection.count).toBe(6);
  expect(selection.eq(CellSelection.fromJSON(state.doc, selection.toJSON() as never))).toBe(true);
  expect(selection.getBookmark().resolve(state.doc).eq(selection)).toBe(true);
});

test("clearing empties only the selected cells, and can be undone in one step", () => {
  const after = run(choose(GRID(), 1, 0, 2, 1), clearChosen);
  expect(words(after)).toEqual([["A", "B", "C"], ["", "", "c1"], ["", "", "c2"], ["a3", "b3", "c3"]]);
  expect(after.selection).toBeInstanceOf(CellSelection);
});

test("typing over selected cells replaces the first one", () => {
  const state = choose(GRID(), 1, 0, 2, 1);
  const after = state.apply(state.tr.insertText("x"));
  after.doc.check();
  expect(words(after).slice(1, 3)).toEqual([["x", "", "c1"], ["", "", "c2"]]);
});

test("a selected cell stays selected during edits of others, and disappears with its table", () => {
  const state = choose(GRID(), 2, 1);
  const typed = state.apply(state.tr.insertText("words", 1));
  expect((typed.selection as CellSelection).rectangle).toEqual({ top: 2, bottom: 2, left: 1, right: 1 });
  const gone = state.apply(state.tr.delete(AT, AT + table(state).nodeSize));
  expect(gone.selection).toBeInstanceOf(TextSelection);
});

test("rows and columns are selected, moved, duplicated, and deleted together", () => {
  const rows = run(choose(GRID(), 1, 1, 2, 1), selectRows);
  expect((rows.selection as CellSelection).wholeRows).toBe(true);
  const moved = run(rows, cellKeys["Alt-ArrowDown"]!);
  expect(words(moved).map((row) => row[0])).toEqual(["A", "a3", "a1", "a2"]);
  expect((moved.selection as CellSelection).rectangle).toMatchObject({ top: 2, bottom: 3 });
  expect(words(run(moved, cellKeys["Alt-ArrowUp"]!)).map((row) => row[0])).toEqual(["A", "a1", "a2", "a3"]);
  expect(words(run(rows, deleteChosenLines)).map((row) => row[0])).toEqual(["A", "a3"]);
  const columns = run(choose(GRID(), 2, 0, 2, 1), selectColumns);
  expect(words(run(columns, cellKeys["Alt-ArrowRight"]!))[0]).toEqual(["C", "A", "B"]);
  expect(words(run(columns, deleteChosenLines))).toEqual([["C"], ["c1"], ["c2"], ["c3"]]);
  const state = GRID();
  expect(words(run(state, duplicateRows(table(state), AT, 2, 3))).map((row) => row[0]))
    .toEqual(["A", "a1", "a2", "a3", "a2", "a3"]);
  expect(words(run(state, duplicateColumns(table(state), AT, 1, 1)))[0]).toEqual(["A", "B", "B", "C"]);
  expect(words(run(state, moveColumns(table(state), AT, 2, 2, -1)))[1]).toEqual(["a1", "c1", "b1"]);
  expect(words(run(state, insertColumn(table(state), AT, 1)))[1]).toEqual(["a1", "", "b1", "c1"]);
});

test("deleting the last column deletes the table", () => {
  const state = GRID();
  expect(run(state, deleteColumns(table(state), AT, 0, 2)).doc.childCount).toBe(1);
});

test("the definition of a column moves with it in the file", () => {
  const state = run(GRID(), (now, dispatch) => moveColumns(table(now), AT, 0, 0, 1)(now, dispatch));
  const { data } = writeBlock(table(state)) as unknown as {
    data: { view: { columns: string[] }; definition: Record<string, { title: string }> };
  };
  expect(data.view.columns.map((id) => data.definition[id]!.title)).toEqual(["B", "A", "C"]);
});

test("sorting compares numbers, and puts empty cells at the end", () => {
  const state = page(["N"], ["10"], [""], ["9"], ["b"]);
  expect(words(run(state, sortRows(table(state), AT, 0, false))).flat()).toEqual(["N", "9", "10", "b", ""]);
  expect(words(run(state, sortRows(table(state), AT, 0, true))).flat()).toEqual(["N", "b", "10", "9", ""]);
});

test("pasted cells replace others, and add rows and columns", () => {
  const state = GRID();
  const transaction = state.tr;
  const cells = readTabbed('x\t"two\nlines"\ny\t"say ""so"""\n')!;
  expect(pasteCells(transaction, AT, { row: 3, column: 2 }, cells)).toEqual({ row: 4, column: 3 });
  const after = state.apply(transaction);
  after.doc.check();
  expect(words(after)).toEqual([
    ["A", "B", "C", ""],
    ["a1", "b1", "c1", ""],
    ["a2", "b2", "c2", ""],
    ["a3", "b3", "x", "two\nlines"],
    ["", "", "y", 'say "so"'],
  ]);
});

test("pasted text is converted to the type of the column", () => {
  let state = run(
    page(["N", "S"], ["1", "one"]),
    (now, dispatch) => setColumnType(table(now), AT, 0, "number")(now, dispatch),
  );
  state = run(state, (now, dispatch) => setColumnType(table(now), AT, 1, "select")(now, dispatch));
  const transaction = state.tr;
  pasteCells(transaction, AT, { row: 1, column: 0 }, [[{ text: "7" }, { text: "two" }], [{ text: "x" }, {
    text: "",
  }]]);
  const after = state.apply(transaction);
  expect(words(after).slice(1)).toEqual([["7", "two"], ["", ""]]);
  const { options } = table(after).firstChild!.child(1).attrs.column;
  expect(options.map((each: { value: string }) => each.value)).toEqual(["one", "two"]);
});

test("text with tabs becomes cells, with any quotation marks", () => {
  const read = (text: string) => readTabbed(text)?.map((row) => row.map((cell) => cell.text));
  expect(read("no tabs")).toBeUndefined();
  expect(read("a\tb\r\nc\td\r\n")).toEqual([["a", "b"], ["c", "d"]]);
  expect(read('5" pipe\t"open\nend\t')).toEqual([['5" pipe', '"open'], ["end", ""]]);
  expect(read('""\tb')).toEqual([["", "b"]]);
  expect(read("\t\t")).toEqual([["", "", ""]]);
});

test("pasting, selecting, and clearing 3,000 rows is quick", () => {
  const rows = Array.from({ length: 3000 }, (_, at) => [{ text: `a${at}` }, { text: `b${at}` }]);
  const state = GRID();
  const transaction = state.tr;
  pasteCells(transaction, AT, { row: 1, column: 0 }, rows);
  // Existing rows are written cell by cell, new ones a hundred rows at a time.
  expect(transaction.steps.length).toBeLessThan(50);
  const after = run(
    run(state.apply(transaction), (now, dispatch) => {
      dispatch?.(
        now.tr.setSelection(CellSelection.of(now.doc, AT, { top: 1, bottom: 3000, left: 0, right: 1 })),
      );
      return true;
    }),
    clearChosen,
  );
  expect(table(after).childCount).toBe(3001);
});

test("Escape selects the cell, and then its table", () => {
  const state = GRID();
  const cell = CellSelection.of(state.doc, AT, { top: 2, bottom: 2, left: 1, right: 1 }).$first.pos;
  const typing = state.apply(state.tr.setSelection(TextSelection.create(state.doc, cell + 3)));
  const chosen = run(typing, cellKeys.Escape!);
  expect((chosen.selection as CellSelection).rectangle).toEqual({ top: 2, bottom: 2, left: 1, right: 1 });
  const whole = run(chosen, cellKeys.Escape!);
  expect((whole.selection as NodeSelection).node.type.name).toBe("table");
});

test("selected cells know the text selection that the browser has for them", () => {
  const before = page(["a", "b"], ["one", "two"], ["three", "four"]);
  const state = choose(before, 1, 0, 2, 1);
  const selection = state.selection as CellSelection;
  const inside = (words: string) => {
    let found = 0;
    state.doc.descendants((node, at) => {
      if (node.isText && node.text === words) found = at;
    });
    return state.doc.resolve(found);
  };
  expect(selection.holds(inside("one"), inside("four"))).toBe(true);
  expect(selection.holds(inside("one"), inside("two"))).toBe(false);
  expect(selection.holds(inside("four"), inside("four"))).toBe(false);
});

test("merged cells keep their content, and split again", () => {
  const before = page(["A", "B", "C"], ["1", "2", "3"], ["4", "", "6"]);
  const merged = run(choose(before, 1, 0, 2, 1), mergeCells);
  expect(words(merged)).toEqual([["A", "B", "C"], ["1\n2\n4", "", "3"], ["", "", "6"]]);
  expect(writeBlock(table(merged)).meta).toEqual({
    attributes: { "colspan-r1c1": "2", "rowspan-r1c1": "2" },
  });
  // A cell in it stands for all of it, as long as the others are empty.
  expect((choose(merged, 2, 1).selection as CellSelection).count).toBe(4);
  expect([...mergedCells(table(merged))!.covered]).toEqual([4, 6, 7]);
  const split = run(choose(merged, 1, 0), splitCells);
  expect(mergedCells(table(split))).toBeUndefined();
  expect(words(split)).toEqual(words(merged));
  // The header is merged by itself.
  expect(mergeCells(choose(before, 0, 0, 1, 0))).toBe(false);
  const head = run(choose(before, 0, 1, 0, 2), mergeCells);
  expect(words(head)[0]).toEqual(["A", "B C", ""]);
  expect(writeBlock(table(head)).meta).toEqual({ attributes: { "colspan-c2": "2" } });
});
