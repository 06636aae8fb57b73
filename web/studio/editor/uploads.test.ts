import { EditorState } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import { expect, test } from "vitest";
import { schema } from "../document/schema.ts";
import { isUploading, oneByOne, takeFiles, type Uploaded, uploads } from "./uploads.ts";

test("200 images are sent one after the other, also after one that fails", async () => {
  let running = 0;
  let most = 0;
  const upload = oneByOne(async (file) => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    if (file.name === "7.png") throw new Error("too large");
    return { file: file.name };
  });
  const files = Array.from({ length: 200 }, (_, at) => new File(["x"], `${at}.png`));
  const sent = await Promise.allSettled(files.map(upload));
  expect(most).toBe(1);
  expect(sent.filter(({ status }) => status === "fulfilled")).toHaveLength(199);
});

test("a file that arrives after its page was left is reported", async () => {
  const view = new EditorView(null, { state: EditorState.create({ schema, plugins: [uploads()] }) });
  const problems: string[] = [];
  let arrive = (_: Uploaded): void => {};
  const upload = () => new Promise<Uploaded>((done) => arrive = done);
  takeFiles(view, [new File(["x"], "map.png")], 0, upload, ({ message }) => problems.push(message));
  expect(isUploading(view)).toBe(true);
  view.destroy();
  arrive({ file: "id" });
  await new Promise((done) => setTimeout(done));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain("map.png");
});
