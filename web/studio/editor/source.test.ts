import { expect, test } from "vitest";
import { mergeTexts } from "./source.ts";

test.each([
  ["a\nb\nc", "a1\nb\nc", "a\nb\nc2", "a1\nb\nc2"],
  ["a\nb\nc", "a\nb\nc2", "a1\nb\nc", "a1\nb\nc2"],
  ["a\nb\nc", "a\nb\nc", "x", "x"],
  ["a\nb\nc", "x", "a\nb\nc", "x"],
  ["a b c", "a B c", "a X c", undefined],
  ["a b c", "a  b c", "a  b c", "a  b c"],
  ["one two three", "one three", "one two three four", "one three four"],
])("%j with %j and %j", (before, mine, theirs, expected) => {
  expect(mergeTexts(before, mine, theirs)).toBe(expected);
});
