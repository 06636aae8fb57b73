/** Compares documents in the format of the API. */
import type { FragmentJson } from "./types.ts";

/** Return whether two JSON values are equal. The order of keys and of a table's fragments doesn't matter. */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length &&
      one.every((each, at) => same(each, other[at]));
  }
  const left = one as Record<string, unknown>;
  const right = other as Record<string, unknown>;
  const names = Object.keys(left).filter((name) => left[name] !== undefined);
  if (names.length !== Object.keys(right).filter((name) => right[name] !== undefined).length) return false;
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
