import { expect, test } from "vitest";
import { freeHueOf, hueOf } from "./hue.ts";

test("people have different hues while there are enough", () => {
  const people = ["ada", "ben", "cho", "dia", "eli", "fay"];
  const taken = new Set<string>();
  for (const person of people) taken.add(freeHueOf(person, taken));
  expect(taken.size).toBe(people.length);
  expect(freeHueOf("gus", taken)).toBe(hueOf("gus"));
});

test("the hue of an id is kept when it is free", () => {
  const other = hueOf("ada") === "hue-red" ? "hue-blue" : "hue-red";
  expect(freeHueOf("ada", new Set([other]))).toBe(hueOf("ada"));
});
