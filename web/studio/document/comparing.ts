/** Compares documents in the format of the API. */
import type { FragmentJson } from "./types.ts";

/** Field of a table's data that the server derives from the table's attributes, which the editor changes. */
export const DERIVED = "cellMerges";

/**
 * Return whether two JSON values are equal. The order of keys and of a table's fragments doesn't matter, nor do its
 * merged cells, which its attributes describe as well.
 */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length &&
      one.every((each, at) => same(each, other[at]));
  }
  const left = one as Record<string, unknown>;
  const right = other as Record<string, unknown>;
  const [names, others] = [left, right].map((value) =>
    Object.keys(value).filter((name) => value[name] !== undefined && name !== DERIVED)
  ) as [string[], string[]];
  if (names.length !== others.length) return false;
  return names.every((name) =>
    name === "fragments" && left.type === "table"
      ? same(byName(left[name]), byName(right[name]))
      : name in right && same(left[name], right[name])
  );
}

function byName(fragments: unknown): Record<string, FragmentJson> {
  return Object.fromEntries(((fragments ?? []) as FragmentJson[]).map((each) => [each.fragment, each]));
}

/** Return the positions of the longest increasing subsequence. */
export function longestRun(numbers: number[]): number[] {
  const ends: number[] = [];
  const before: number[] = [];
  numbers.forEach((number, at) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]!]! < number) low = middle + 1;
      else high = middle;
    }
    before[at] = low ? ends[low - 1]! : -1;
    ends[low] = at;
  });
  const found: number[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at]!) found.push(at);
  return found.reverse();
}
