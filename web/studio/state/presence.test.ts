import { afterEach, expect, test, vi } from "vitest";
import { editedBase } from "../editor/base.ts";
import { presence } from "./live.svelte.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test("a report of the person's location that failed is repeated soon", async () => {
  vi.useFakeTimers();
  const answers = [undefined, 503, 200, 200];
  const asked: number[] = [];
  const start = Date.now();
  vi.spyOn(globalThis, "fetch").mockImplementation(() => {
    asked.push(Date.now() - start);
    const status = answers[asked.length - 1];
    return status ? Promise.resolve(new Response(null, { status })) : Promise.reject(new TypeError());
  });
  const leave = presence.attend("space", editedBase(1), "page", true);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(asked).toEqual([600, 1_600, 3_600]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked.at(-1)).toBe(30_000);
  leave();
});
