import { flushSync } from "svelte";
import { expect, test } from "vitest";
import { resource } from "./resource.svelte.ts";

test("values derived from a resource follow its response", async () => {
  let seen: number | undefined;
  const stop = $effect.root(() => {
    const twice = $derived((resource("seven", () => Promise.resolve(7)).value ?? 0) * 2);
    $effect(() => {
      seen = twice;
    });
  });
  flushSync();
  expect(seen).toBe(0);
  await new Promise((done) => setTimeout(done));
  flushSync();
  expect(seen).toBe(14);
  stop();
});
