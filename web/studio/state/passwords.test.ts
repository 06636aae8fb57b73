import { expect, test } from "vitest";
import { measurePassword } from "./passwords.ts";

test.each([
  ["", 0],
  ["short", 1],
  ["aaaaaaaaaaaaaaaa", 1],
  ["kettlewater", 2],
  ["kettle and water", 3],
  ["Two kettles on the hob", 4],
])("the strength of “%s” is %i", (password, strength) => {
  expect(measurePassword(password)).toBe(strength);
});
