import { expect, test } from "vitest";
import { focusOf, offsetOf } from "./cover.ts";

const box = { width: 800, height: 200 };

test("the position of a cover is a share of how far it can be shifted", () => {
  const image = { width: 800, height: 400 };
  expect([0, 100, 5000, -50, -100].map((y) => focusOf(y, image, box))).toEqual([50, 0, 0, 75, 100]);
  for (const focus of [0, 38, 50, 99]) expect(focusOf(offsetOf(focus, image, box), image, box)).toBe(focus);
});

test("an image that fits has no position", () => {
  const image = { width: 800, height: 100 };
  expect(focusOf(70, image, box)).toBe(50);
  expect(offsetOf(10, image, box)).toBe(0);
});
