import { expect, test } from "vitest";
import { fieldsOf, madeOf } from "./claims.ts";

const description = "";
const schema = {
  type: "object" as const,
  additionalProperties: false,
  properties: {
    plan: { type: "string" as const, description, enum: ["free", "pro"] },
    seats: { type: "number" as const, description },
    teams: { type: "array" as const, description, items: { type: "string" as const, description } },
    unsigned: {
      type: "object" as const,
      description,
      additionalProperties: false,
      properties: { beta: { type: "boolean" as const, description } },
    },
  },
};

test("each claim with a simple type has a field", () => {
  const fields = fieldsOf(schema);
  expect(fields.map((field) => [field.name, field.type])).toEqual([
    ["plan", "string"],
    ["seats", "number"],
    ["unsigned.beta", "boolean"],
  ]);
  expect(fields[0]!.words).toEqual(["free", "pro"]);
});

test("filled-in fields have the type and path of their claim, and empty ones are omitted", () => {
  const fields = fieldsOf(schema);
  expect(madeOf(fields, { plan: "pro", seats: "4", "unsigned.beta": "false" })).toEqual({
    plan: "pro",
    seats: 4,
    unsigned: { beta: false },
  });
  expect(madeOf(fields, { plan: "", seats: "0" })).toEqual({ seats: 0 });
  expect(madeOf(fields, {})).toEqual({});
});
