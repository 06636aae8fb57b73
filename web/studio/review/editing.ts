/** Edits a change request from its review. */
import { t } from "../../shared/words.ts";
import type { DocumentJson } from "../document/types.ts";
import { type Answer, changeContent, type Changes } from "../state/changing.ts";
import { notices } from "../state/notices.svelte.ts";
import { refresh } from "../state/resource.svelte.ts";
import type { Row } from "./blocks.ts";
import type { Entry } from "./reviewing.svelte.ts";

export const keyOf = (row: Row) => String((row.after ?? row.before)?.attrs.key ?? "");

export async function writeBlocks(
  space: string,
  number: number,
  changes: Changes,
  baseRevision?: string,
): Promise<Answer> {
  const answer = await changeContent(space, { kind: "change", number }, {
    changes,
    ...(baseRevision ? { baseRevision } : {}),
  });
  await refresh(`space/${space}/`);
  return answer;
}

/** Return the block of the current page that a removed block followed. */
function placeBefore(row: Row, rows: Row[], old: DocumentJson | undefined) {
  const there = new Set(rows.flatMap((one) => (one.after ? [keyOf(one)] : [])));
  const order = (old?.nodes ?? []).map(({ key }) => key);
  const before = order.slice(0, order.indexOf(keyOf(row))).findLast((key) => key && there.has(key));
  return before ? { after: before } : { into: null, at: 0 };
}

/** The page of the blocks. `since`: the revision with which they are compared, if it isn't the usual one. */
interface Of {
  space: string;
  number: number;
  entry: Entry;
  since: string | undefined;
}

/** Restore a block and its position. `rows`: all rows of the page; `old`: the previous page. */
export async function takeBlockBack(
  { space, number, entry: { id }, since }: Of,
  row: Row,
  rows: Row[],
  old: unknown,
): Promise<void> {
  const key = keyOf(row);
  const changes: unknown[] = [];
  if (row.kind === "moved") {
    const place = placeBefore(row, rows, old as DocumentJson | undefined);
    changes.push({ operation: "update_blocks", page: id, move: [{ blocks: [key], ...place }] });
  }
  if (row.kind !== "moved" || row.edited) {
    changes.push({ operation: "revert_page", page: id, block: [key], ...(since ? { revision: since } : {}) });
  }
  await notices.attempt(async () => {
    const answer = await writeBlocks(space, number, changes as Changes);
    const was = answer.previousRevision;
    notices.say(t("changeDiscarded"), {
      undo: row.kind === "moved"
        ? undefined
        : () =>
          writeBlocks(space, number, [{ operation: "revert_page", page: id, block: [key], revision: was }]),
    });
  });
}

/** Restore the whole page. */
export async function takePageBack({ space, number, entry: { id, title }, since }: Of): Promise<void> {
  const revert = (revision: string | undefined) =>
    writeBlocks(space, number, [{ operation: "revert_page", page: id, ...(revision ? { revision } : {}) }]);
  await notices.attempt(async () => {
    const answer = await revert(since);
    notices.say(t("pageTitleRestored", { title }), { undo: () => revert(answer.previousRevision) });
  });
}
