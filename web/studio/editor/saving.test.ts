import type { Node } from "prosemirror-model";
import { beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../../shared/client.ts";
import { readDocument } from "../document/convert.ts";
import type { BlockJson } from "../document/types.ts";
import { blocksOf, type Fields, type Save, type Saved, Saver } from "./saving.ts";

function page(...words: string[]): Node {
  const nodes: BlockJson[] = words.map((text, at) => ({
    object: "block",
    type: "paragraph",
    isVoid: false,
    key: `k${at}`,
    data: {},
    nodes: [{ object: "text", leaves: [{ object: "leaf", text, marks: [] }] }],
  }));
  return readDocument({ nodes });
}

/** A page being saved to a server that answers one after the other; what it was sent, what was kept, what was said. */
function saving(answers: (string | ApiError | Saved)[], now = "r0", takes = true) {
  let doc = page("one", "two");
  const sent: Save[] = [];
  const began: unknown[] = [];
  const kept: unknown[] = [];
  const said: string[] = [];
  const problems: string[] = [];
  const saver = new Saver({
    revision: "r0",
    blocks: blocksOf(doc),
    fields: { title: "Page", description: "" },
    began() {
      began.push(blocksOf(doc));
    },
    send(save) {
      sent.push(save);
      const answer = answers.shift() ?? "r9";
      if (answer instanceof ApiError) return Promise.reject(answer);
      return Promise.resolve(typeof answer === "string" ? { revision: answer } : answer);
    },
    current: () => Promise.resolve(now),
    keep: (draft) => Promise.resolve(kept.push(draft)),
    drop: () => Promise.resolve(kept.push(null)),
    onstate: (state) => said.push(state.kind),
    onproblem: (problem) => problems.push(problem.message),
    onsaved() {},
    take(merged) {
      if (takes) saver.moved(merged, merged.document.nodes, merged.page as Fields, merged.page as Fields);
      return takes;
    },
    onrefused() {},
  }, () => doc);
  return {
    saver,
    sent,
    began,
    kept,
    said,
    problems,
    write(...words: string[]) {
      doc = page(...words);
      saver.changed();
    },
  };
}

test("what is typed while a draft is being kept is not taken for sent", async () => {
  const { sent, began, kept, write } = saving([]);
  write("one mine", "two");
  await vi.advanceTimersByTimeAsync(600);
  kept.push = (...drafts: unknown[]) => {
    write("one mine, and more", "two");
    return Array.prototype.push.apply(kept, drafts);
  };
  await vi.advanceTimersByTimeAsync(5_000);
  expect(words(sent[0])).toBe('"text":"one mine"');
  expect(JSON.stringify(began[0])).not.toContain("and more");
});

const words = (save: Save | undefined) => JSON.stringify(save?.blocks).match(/"text":"([^"]+)"/g)?.join(" ");

beforeEach(() => {
  vi.useFakeTimers();
});

test("what may have arrived is sent again as it was, before what was written since", async () => {
  const { saver, sent, kept, said, write } = saving([new ApiError(0, "")], "r1");
  write("one mine", "two");
  await vi.advanceTimersByTimeAsync(900);
  write("one mine more", "two");
  await vi.advanceTimersByTimeAsync(100);
  expect(kept.at(-1)).toMatchObject({ revision: "r0", sent: { revision: "r0" } });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent.map(words)).toEqual(['"text":"one mine"', '"text":"one mine"', '"text":"one mine more"']);
  expect(sent.map((save) => save.revision)).toEqual(["r0", "r0", "r9"]);
  expect(saver.dirty).toBe(false);
  expect(said.at(-1)).toBe("saved");
  expect(kept.at(-1)).toBeNull();
});

test("what did not arrive goes with what was written since", async () => {
  const { sent, write } = saving([new ApiError(502, "")]);
  write("one mine", "two");
  await vi.advanceTimersByTimeAsync(900);
  write("one mine more", "two");
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent.map(words)).toEqual(['"text":"one mine"', '"text":"one mine more"']);
});

test("after a refusal of the whole the next edit is saved", async () => {
  const { sent, problems, said, write } = saving([new ApiError(413, "Too large.")]);
  write("one mine", "two");
  await vi.advanceTimersByTimeAsync(60_000);
  expect([sent.length, problems, said.at(-1)]).toEqual([1, ["Too large."], "unsaved"]);
  write("one", "two mine");
  await vi.advanceTimersByTimeAsync(900);
  expect([sent.length, said.at(-1)]).toEqual([2, "saved"]);
});

test("a block that someone else deleted is left out of the next save by its reason, whatever the message says", async () => {
  const gone = new ApiError(404, "changes[0].set[0].block: nope", { reason: "block_not_found" });
  const { sent, problems, said, write } = saving([gone]);
  write("one mine", "two");
  await vi.advanceTimersByTimeAsync(5_000);
  expect([sent.length, problems, said.at(-1)]).toEqual([2, [], "saved"]);
});

test("a message that mentions a block is shown if its reason is another one", async () => {
  const { sent, problems, write } = saving([new ApiError(404, "No such block.", { reason: "not_found" })]);
  write("one mine", "two");
  await vi.advanceTimersByTimeAsync(5_000);
  expect([sent.length, problems]).toEqual([1, ["No such block."]]);
});

test("the block in the error's field is left out, and the others are saved", async () => {
  const field = "changes[0].set[0].document.document[0].data";
  const { sent, problems, said, write } = saving([
    new ApiError(400, `${field}: no`, { reason: "invalid", field }),
  ]);
  write("one mine", "two mine");
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent.map(words)).toEqual(['"text":"one mine" "text":"two mine"', '"text":"two mine"']);
  expect([problems, said.at(-1)]).toEqual([[], "unsaved"]);
});

const merged: Saved = {
  revision: "r2",
  merged: {
    revision: "r2",
    page: { id: "p", title: "Page", description: "" },
    document: { nodes: blocksOf(page("one mine", "two theirs")) },
  },
};

test("what was merged is the base of the next save once it is taken in", async () => {
  const { saver, sent, write } = saving([merged]);
  write("one mine", "two");
  await vi.advanceTimersByTimeAsync(900);
  expect(saver.revision).toBe("r2");
  // The words of the other one are in the text by now.
  write("one mine more", "two theirs");
  await vi.advanceTimersByTimeAsync(900);
  expect(words(sent[1])).toBe('"text":"one mine more"');
  expect(sent[1]!.revision).toBe("r2");
});

test("the base stays where it is until what was merged is taken in", async () => {
  const { saver, sent, said, write } = saving([merged], "r0", false);
  write("one mine", "two");
  await vi.advanceTimersByTimeAsync(900);
  expect([saver.revision, saver.dirty, said.at(-1)]).toEqual(["r0", true, "unsaved"]);
  write("one mine more", "two");
  await vi.advanceTimersByTimeAsync(900);
  expect(sent.map((save) => save.revision)).toEqual(["r0", "r0"]);
});

test("a save that both changed the same for goes again on top of theirs, and at last as a conflict", async () => {
  const theirs = { ...merged.merged!, document: { nodes: blocksOf(page("one theirs", "two")) } };
  const refused: Saved = { revision: "r2", refused: theirs };
  const { saver, sent, write } = saving([...Array(6).fill(refused), "r3"]);
  write("one mine", "two");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(sent.map((save) => save.revision)).toEqual(["r0", "r2", "r2", "r2", "r2", "r2", "r2"]);
  expect(sent.map((save) => save.refuse)).toEqual([true, true, true, true, true, false, false]);
  expect(saver.dirty).toBe(false);
});
