import { expect, test } from "vitest";
import { oneByOne } from "./uploads.ts";

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
