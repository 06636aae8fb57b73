import { parse } from "svelte/compiler";
import { expect, test } from "vitest";
import english from "./words/en.json?raw";

const texts: Record<string, string> = JSON.parse(english);
const sources = import.meta.glob<string>("../studio/**/*.svelte", {
  query: "?raw",
  import: "default",
  eager: true,
});

interface Node {
  type: string;
  name?: string;
  [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value;

/** Return a node and all nodes below it. */
function* nodesOf(value: unknown): Generator<Node> {
  if (Array.isArray(value)) { for (const each of value) yield* nodesOf(each); }
  else if (isNode(value)) {
    yield value;
    for (const [field, each] of Object.entries(value)) if (field !== "parent") yield* nodesOf(each);
  }
}

/** Return the English texts that an expression produces with `t("key")`: one, or one for each branch of a condition. */
function textsOf(expression: unknown): (string | undefined)[] {
  if (!isNode(expression)) return [undefined];
  if (expression.type === "ConditionalExpression") {
    return [...textsOf(expression.consequent), ...textsOf(expression.alternate)];
  }
  const { callee, arguments: [key] = [] } = expression as unknown as {
    callee?: Node;
    arguments?: { value?: string }[];
  };
  return [callee?.name === "t" && key?.value ? texts[key.value] : undefined];
}

/** Return the expressions whose texts a control renders by itself. */
const shownIn = (fragment: unknown): unknown[] =>
  (fragment as { nodes: Node[] }).nodes.filter(({ type }) => type === "ExpressionTag").map(({ expression }) =>
    expression
  );

test("the visible text of a control is part of its accessible name", () => {
  const found: string[] = [];
  for (const [path, source] of Object.entries(sources)) {
    for (const node of nodesOf(parse(source, { modern: true }).fragment)) {
      if (!["Button", "button", "a", "summary"].includes(node.name ?? "") || !("fragment" in node)) continue;
      const label = (node.attributes as Node[]).find(({ name }) => name === "label" || name === "aria-label");
      const named = textsOf((label?.value as { expression?: unknown } | undefined)?.expression);
      for (const expression of shownIn(node.fragment)) {
        const shown = textsOf(expression);
        // Two choices depend on the same condition.
        named.forEach((name, at) => {
          const seen = named.length === shown.length ? [shown[at]] : shown;
          for (const text of seen) {
            if (name && text && !name.toLowerCase().includes(text.toLowerCase())) {
              found.push(`${path}: “${text}” in “${name}”`);
            }
          }
        });
      }
    }
  }
  expect(found).toEqual([]);
});
