import { expect, test } from "vitest";
import { shownWidth } from "./pictures.ts";

const photo = { width: 2000, height: 1000 };

test.each([
  [photo, null, undefined, 736],
  [photo, "300", undefined, 300],
  [photo, "50%", undefined, 368],
  [{ width: 500, height: 500 }, null, undefined, 500],
  [photo, null, "cell-image", 192],
  [photo, null, "image-line", 48],
  [photo, null, "card-picture", 360],
  [{}, null, undefined, 736],
])("a browser is told how wide a picture will be: %o %s %s", (asset, width, place, expected) => {
  expect(shownWidth(asset, width, place)).toBe(expected);
});
