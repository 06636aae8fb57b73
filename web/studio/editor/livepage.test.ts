/** A page with live editing, with a server that answers when the test says so. */
import { EditorState, TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { afterEach, expect, test, vi } from "vitest";
import { api } from "../../shared/client.ts";
import { schema } from "../document/schema.ts";
import { live as news, type News } from "../state/live.svelte.ts";
import type { SaveState } from "./base.ts";
import { LivePage } from "./livepage.ts";
import { blocksOf, type KeptPage } from "./storedpage.ts";

afterEach(() => vi.restoreAllMocks());

const { doc, paragraph } = schema.nodes;
const page = doc!.create(null, paragraph!.create({ key: "first" }, schema.text("First.")));

type Answer = [status: number, answer: object];

/** Open a page; `answer` is the server. */
function open(
  answer: (path: string, body: never) => Answer | Promise<Answer>,
  meanwhile: () => void = () => {},
  kept?: KeptPage,
) {
  vi.spyOn(api, "POST").mockImplementation(
    (async (path: string, { body }: { body: never }) => {
      const [status, data] = await answer(path, body);
      const response = new Response(null, { status });
      return status < 300 ? { data, response } : { error: data, response };
    }) as never,
  );
  for (const method of ["GET", "PUT"] as const) {
    vi.spyOn(api, method).mockImplementation((() => new Promise(() => {})) as never);
  }
  let state = EditorState.create({ doc: page });
  const stored: (KeptPage | undefined)[] = [];
  const states: SaveState["kind"][] = [];
  const none = () => {};
  const live = new LivePage({
    ...{ space: "s", change: 1, page: "p", tab: "client-a", user: "me", followed: "c" },
    opened: { epoch: "e", version: 0, savedVersion: 0, refused: [], document: page.toJSON() } as never,
    ...(kept ? { kept } : {}),
    // The browser copies it a moment later.
    keep: async (kept) => {
      await Promise.resolve();
      meanwhile();
      stored.push(structuredClone(kept));
    },
    onstate: ({ kind }) => states.push(kind),
    ...{ onproblem: none, onrestored: none, onaside: none, oncaret: none, onsaved: none, onend: none },
  });
  const view = {
    composing: false,
    domObserver: { flush: none },
    get state() {
      return state;
    },
    dispatch(transaction: never) {
      state = state.apply(transaction);
      live.changed(transaction);
    },
  };
  live.attach(view as unknown as EditorView);
  return { live, view, stored, states };
}

test("all texts that are set aside at once reach the server", async () => {
  const aside: string[] = [];
  const { live, view, stored, states } = open(async (path, body: never) => {
    const { steps, document, markdown } = body as { steps: object; document: object; markdown: string };
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (path.endsWith("/convert")) return [200, { markdown: JSON.stringify(document) }];
    if (path.endsWith("/set-aside")) return [201, { id: aside.push(markdown!) }];
    return [422, { error: { code: 422, message: `steps[0]: ${steps}`, reason: "step" }, index: 0 }];
  });
  for (const word of ["one", "two", "three"]) {
    view.dispatch(view.state.tr.insertText(word, 1) as never);
    await live.flush().catch(() => {});
  }
  await vi.waitFor(() => expect(states.at(-1)).toBe("saved"));
  for (const word of ["one", "two", "three"]) {
    expect(aside.filter((text) => text.includes(word)), word).toHaveLength(1);
  }
  expect(stored.at(-1)).toBeUndefined();
  await live.stop();
});

test("a stored page has the version of its batches, whatever arrives in the meantime", async () => {
  let hear: (news: News) => void = () => {};
  vi.spyOn(news, "hear").mockImplementation((listener) => {
    hear = listener;
    return () => {};
  });
  let version = 0;
  const step = { stepType: "replace", from: 1, to: 1, slice: { content: [{ type: "text", text: "b " }] } };
  const { live, view, stored } = open(() => new Promise(() => {}), () => {
    const batch = { client: "client-b", batch: ++version, attempt: 1, user: "b", steps: [step], version };
    hear({ kind: "steps", batches: [batch as never] });
  });
  view.dispatch(view.state.tr.insertText("a", 3) as never);
  await vi.waitFor(() => expect(stored.length).toBeGreaterThan(0));
  for (const { version, batches, own } of stored.filter((each) => each !== undefined)) {
    expect(own.version).toBe(version + batches.reduce((sum, { steps }) => sum + steps.length, 0));
  }
  expect(live.dirty).toBe(true);
  void live.stop();
});

test("a selection made while an edit is being saved is told afterwards", async () => {
  let save: (answer: Answer) => void = () => {};
  const { live, view } = open(() => new Promise((resolve) => (save = resolve)));
  const steps = { client: "client-a", batch: 1, attempt: 1, version: 1, user: "me" };
  view.dispatch(view.state.tr.insertText("Now ", 1) as never);
  await vi.waitFor(() => expect(api.POST).toHaveBeenCalled());
  view.dispatch(view.state.tr.setSelection(TextSelection.create(view.state.doc, 1, 4)) as never);
  live.moved();
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(api.PUT).not.toHaveBeenCalled();
  const [, { body }] = vi.mocked(api.POST).mock.calls[0] as never as [string, { body: object }];
  save([200, { version: 1, batches: [{ ...body, ...steps }] }]);
  const caret = expect.objectContaining({ body: { client: "client-a", version: 1, anchor: 1, head: 4 } });
  await vi.waitFor(() => expect(api.PUT).toHaveBeenCalledWith(expect.stringMatching(/caret$/), caret));
  void live.stop();
});

test("text counts as stored in the browser only when the last key is stored", async () => {
  const seen: [state: string, isStored: boolean][] = [];
  const { live, view, stored, states } = open(() => [
    503,
    { error: { code: 503, message: "read-only", reason: "maintenance" } },
  ]);
  const includes = (word: string) => JSON.stringify(stored.at(-1) ?? "").includes(word);
  view.dispatch(view.state.tr.insertText("one ", 1) as never);
  await vi.waitFor(() => expect(states.at(-1)).toBe("maintenance"));
  expect(includes("one ")).toBe(true);
  view.dispatch(view.state.tr.insertText("two ", 1) as never);
  seen.push([states.at(-1)!, includes("two ")], [live.kept, includes("two ")]);
  await vi.waitFor(() => expect(states.at(-1)).toBe("maintenance"));
  seen.push([states.at(-1)!, includes("two ")], [live.kept, includes("two ")]);
  expect(seen).toEqual([["saving", false], ["nowhere", false], ["maintenance", true], ["browser", true]]);
  void live.stop();
});

test("people know that a page is too large to be saved, until it is saved again", async () => {
  let hear: (news: News) => void = () => {};
  vi.spyOn(news, "hear").mockImplementation((listener) => {
    hear = listener;
    return () => {};
  });
  let version = 0;
  const { live, view, states } = open((path, body: never) => {
    if (path.endsWith("/save")) return [413, { error: { code: 413, message: "page" } }];
    return [200, { version: ++version, batches: [{ ...body as object, version, user: "me" }] }];
  });
  view.dispatch(view.state.tr.insertText("a", 1) as never);
  await vi.waitFor(() => expect(states.at(-1)).toBe("saved"));
  await expect(live.flush()).rejects.toThrow();
  expect(states.at(-1)).toBe("unsaved");
  expect(live.kept).toBe("server");
  // The text itself is on the server, and more can be typed.
  view.dispatch(view.state.tr.insertText("b", 1) as never);
  await vi.waitFor(() => expect(live.dirty).toBe(false));
  expect(states.at(-1)).toBe("unsaved");
  hear({ kind: "saved", version: 2, refused: [] } as never);
  expect(states.at(-1)).toBe("saved");
  hear({ kind: "saved", version: 0, refused: ["p"] } as never);
  expect(states.at(-1)).toBe("unsaved");
  await live.stop().catch(() => {});
});

const kept = (steps: object[]): KeptPage => ({
  ...{ epoch: "e", version: 0, document: page.toJSON(), batches: [], aside: [] },
  own: {
    client: "client-b",
    version: 0,
    sent: 0,
    batch: 1,
    attempt: 1,
    steps,
    sentAs: steps.map(() => -1),
  } as never,
});
const typed = (text: string, from: number) => ({
  ...{ stepType: "replace", from, to: from, slice: { content: [{ type: "text", text }] } },
});

test("words that another version of the app stored are set aside if it stored them in another form", async () => {
  const strange = {
    stepType: "replace",
    from: 0,
    to: 0,
    slice: { content: [{ type: "gone_block", content: [] }] },
  };
  vi.spyOn(console, "error").mockImplementation(() => {});
  const aside: string[] = [];
  const stored = kept([typed("He", 1), typed("llo", 3), strange, typed("there", 1), {
    stepType: "old",
    value: { a: "x" },
  }, { stepType: "attr", pos: 0, attr: "key", value: "a key" }]);
  expect(JSON.stringify(blocksOf(stored))).toContain("Hello");
  const { live, view, states } = open(
    (path, body: never) => {
      const { document, markdown } = body as { document: object; markdown: string };
      if (path.endsWith("/convert")) return [200, { markdown: JSON.stringify(document) }];
      if (path.endsWith("/set-aside")) return [201, { id: aside.push(markdown) }];
      return [200, { version: 1, batches: [{ ...body as object, version: 1, user: "me" }] }];
    },
    undefined,
    stored,
  );
  await vi.waitFor(() => expect(states.at(-1)).toBe("saved"));
  for (const word of ["Hello", "there", "x"]) expect(aside.join(), word).toContain(`"${word}"`);
  expect(aside.join()).not.toContain("a key");
  expect(view.state.doc.textContent).toBe("First.");
  await live.stop();
});

test("changes of another tab are adopted if their steps have expired", async () => {
  const { live, view } = open(() => new Promise(() => {}));
  vi.spyOn(api, "GET").mockImplementation(
    (() =>
      Promise.resolve({
        error: { error: { code: 410, message: "gone" } },
        response: new Response(null, { status: 410 }),
      })) as never,
  );
  await live.adopt(kept([typed("Kept. ", 1)]));
  expect(view.state.doc.textContent).toBe("Kept. First.");
  void live.stop();
});

test("half a letter and NUL are replaced when they are sent, and stop nothing", async () => {
  const bodies: string[] = [];
  let version = 0;
  const { live, view, states } = open((_path, body: never) => {
    bodies.push(JSON.stringify(body));
    version += (body as { steps: object[] }).steps.length;
    return [200, { version, batches: [{ ...body as object, version, user: "me" }] }];
  });
  view.dispatch(view.state.tr.insertText("a\ud83d\0", 1) as never);
  view.dispatch(view.state.tr.setNodeAttribute(0, "data", { title: "\ude00 \\ud83d 😀" }) as never);
  await vi.waitFor(() => expect(states.at(-1)).toBe("saved"));
  expect(bodies.join()).not.toMatch(/[^\\]\\u(d[89a-f]|0000)/);
  expect(bodies.join()).toContain('"a\ufffd\ufffd"');
  expect(bodies.join()).toContain("\ufffd \\\\ud83d 😀");
  await live.stop().catch(() => {});
});

test("a large text that is set aside reaches the server in parts", async () => {
  const aside: string[] = [];
  const { live, view, states } = open((path, body: never) => {
    const { document, markdown } = body as { document: object; markdown: string };
    if (path.endsWith("/convert")) return [200, { markdown: JSON.stringify(document) }];
    if (path.endsWith("/set-aside")) return [201, { id: aside.push(markdown) }];
    return [413, { error: { code: 413, message: "steps" } }];
  });
  const paragraphs = Array.from(
    { length: 30 },
    (_, at) => paragraph!.create(null, schema.text(`${at}! `.repeat(3_000))),
  );
  view.dispatch(view.state.tr.insert(0, paragraphs) as never);
  await vi.waitFor(() => expect(states.at(-1)).toBe("saved"));
  expect(aside.length).toBeGreaterThan(3);
  expect(Math.max(...aside.map(({ length }) => length))).toBeLessThan(101_000);
  for (const at of paragraphs.keys()) expect(aside.join()).toContain(` ${at}! ${at}! `);
  await live.stop();
});
