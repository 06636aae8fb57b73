/** Claims of visitors: the form fields for them, and the values in the form. */
import type { Schemas } from "../../../shared/client.ts";

type Claims = Schemas["VisitorSchema"]["properties"];

export interface ClaimField {
  /** The name of the claim; for a nested claim, its path with dots. */
  name: string;
  type: "boolean" | "number" | "string";
  /** The allowed values, if they are limited. */
  words: readonly string[] | undefined;
  description: string;
}

/** Return the claims that have a form field. Lists can be set only as JSON. */
export function fieldsOf(schema: Schemas["VisitorSchema"]): ClaimField[] {
  const below = (claims: Claims, above: string): ClaimField[] =>
    Object.entries(claims).flatMap(([key, claim]) => {
      const name = above + key;
      if (claim.type === "object") return below(claim.properties as Claims, `${name}.`);
      if (claim.type === "array") return [];
      const words = claim.type === "string" ? claim.enum : undefined;
      return [{ name, type: claim.type, words, description: claim.description }];
    });
  return below(schema.properties, "");
}

/** Return the claims in a form. An empty field means that the claim is unknown. */
export function madeOf(fields: readonly ClaimField[], values: Record<string, string>): object {
  const made: Record<string, unknown> = {};
  for (const { name, type } of fields) {
    const value = values[name] ?? "";
    if (!value) continue;
    const way = name.split(".");
    const last = way.pop()!;
    let at = made;
    for (const key of way) at = (at[key] ??= {}) as Record<string, unknown>;
    at[last] = type === "string" ? value : type === "number" ? Number(value) : value === "true";
  }
  return made;
}
