import { afterEach, expect, test, vi } from "vitest";
import { ApiError } from "../../shared/client.ts";
import { Sender } from "./sender.ts";

afterEach(() => vi.restoreAllMocks());

test("text counts as stored in the browser only when its last change is stored", async () => {
  let text = "";
  let stored = "";
  let isFull = false;
  const states: string[] = [];
  const sender = new Sender({
    isDirty: () => text !== "",
    send: () => Promise.reject(new ApiError(0, "offline")),
    keep: async () => {
      const copy = text;
      await Promise.resolve();
      if (isFull) throw new Error("no room");
      stored = copy;
    },
    onstate: ({ kind }) => states.push(kind),
    onproblem: () => {},
  });
  const type = (more: string) => {
    text += more;
    sender.changed();
  };
  type("one");
  await sender.flush().catch(() => {});
  expect([states.at(-1), sender.kept, stored]).toEqual(["offline", "browser", "one"]);
  type(" two");
  expect([states.at(-1), sender.kept, stored]).toEqual(["saving", "nowhere", "one"]);
  await vi.waitFor(() => expect(states.at(-1)).toBe("offline"));
  expect([sender.kept, stored]).toEqual(["browser", "one two"]);
  isFull = true;
  type(" three");
  await vi.waitFor(() => expect(states.at(-1)).toBe("unsaved"));
  expect([sender.kept, stored]).toEqual(["nowhere", "one two"]);
  await sender.stop();
});
