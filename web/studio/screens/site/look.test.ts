import { expect, test } from "vitest";
import { contrast } from "./look.ts";

test("contrast is that of WCAG 2", () => {
  expect(contrast("#000", "#ffffff")).toBeCloseTo(21, 5);
  expect(contrast("#fff", "#FFFFFF")).toBe(1);
  expect(contrast("#767676", "#fff")).toBeCloseTo(4.54, 2);
  expect(contrast("red", "#fff")).toBeUndefined();
  expect(contrast("#12345", "#fff")).toBeUndefined();
});
