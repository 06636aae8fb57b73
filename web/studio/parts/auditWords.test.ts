import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DONE, THINGS } from "./auditWords.ts";

test("each audit action has words for its object and for what happened", () => {
  const file = readFileSync("../src/octavo/organization/access/audit_actions.txt", "utf8");
  const actions = file.split("\n").filter((line) => line && !line.startsWith("#"));
  expect(actions.length).toBeGreaterThan(100);
  const unnamed = actions.filter((action) => {
    const [thing = "", done = ""] = action.split(".");
    return !(thing in THINGS && done in DONE);
  });
  expect(unnamed).toEqual([]);
});
