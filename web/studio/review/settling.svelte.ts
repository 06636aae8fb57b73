/** The conflicts of a change request and their resolutions. A choice is shown and sent immediately, and the server can
 * reopen a resolved conflict. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { reopenConflictInChangeRequest, resolveConflictInChangeRequest } from "../api/conflicts.ts";
import { LABELS } from "../../generated/page-fields.ts";
import type { OpenConflict } from "../state/conflicts.ts";
import { refresh } from "../state/resource.svelte.ts";

export type Side = "base" | "ours" | "theirs";

export interface Choice {
  choice: Side | "edited";
  /** The edited result, for the choice `edited`. */
  value?: unknown;
}

export class Settling {
  /** Choices that are being sent. The value `null` reopens the conflict. */
  #sent: Record<string, Choice | null> = $state({});
  /** The server's errors about choices. */
  refused: Record<string, string> = $state({});
  /** The current conflict. */
  current: string | undefined = $state();
  #last: string[] = [];
  #queue: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(readonly space: string, readonly number: number) {}

  of(conflict: OpenConflict): Choice | undefined {
    const sent = this.#sent[conflict.id];
    return sent === undefined ? conflict.settled : sent ?? undefined;
  }

  choose(conflict: OpenConflict, choice: Choice): void {
    this.#last.push(conflict.id);
    const { choice: side, value } = choice;
    this.#send(
      conflict.id,
      choice,
      (path) =>
        resolveConflictInChangeRequest(
          path,
          { choice: side, ...(side === "edited" ? { value } : {}) } as Schemas["ResolveConflict"],
        ),
    );
  }

  /** Reopen a resolved conflict, by default the last one, and return its ID. */
  undo(id: string | undefined = this.#last.pop()): string | undefined {
    if (id === undefined) return undefined;
    this.#last = this.#last.filter((one) => one !== id);
    this.#send(
      id,
      null,
      (path) => reopenConflictInChangeRequest(path),
    );
    return id;
  }

  /** Resolve when the server has all choices. */
  async idle(): Promise<void> {
    await this.#queue;
  }

  /** Send one choice at a time, because each creates a revision based on the previous one. */
  #send(
    id: string,
    shown: Choice | null,
    send: (path: { spaceId: string; changeRequestId: string; conflictId: string }) => Promise<unknown>,
  ): void {
    this.#sent[id] = shown;
    delete this.refused[id];
    const mine = this.#sent[id];
    this.#waiting++;
    this.#queue = this.#queue
      .then(() => send({ spaceId: this.space, changeRequestId: String(this.number), conflictId: id }))
      .catch((problem) => {
        this.refused[id] = (problem as Error).message;
        if (this.#sent[id] === mine) delete this.#sent[id];
      })
      .then(async () => {
        if (--this.#waiting) return;
        await refresh(`space/${this.space}/changes/${this.number}`);
        if (!this.#waiting) this.#sent = {};
      });
  }
}

const kept = new Map<string, Settling>();

export function settlingOf(space: string, number: number): Settling {
  const key = `${space}/${number}`;
  let found = kept.get(key);
  if (!found) kept.set(key, found = new Settling(space, number));
  return found;
}

const FIELDS: Record<string, string> = {
  ...LABELS,
  place: t("positionInPageTree"),
  file: t("file"),
  value: t("value"),
};

/** Return the first words of a text without Markdown syntax. */
function begin(text: string): string {
  const line =
    text.split("\n").find((one) => /[\p{L}\p{N}]/u.test(one) && !/^\s*(```|~~~|\{%|<)/.test(one)) ?? "";
  const words = line.replace(/^[\s>#*+\-\d.|[\]]+/, "").replace(/[*_`|]/g, "").trim();
  return words.length > 32 ? `${words.slice(0, 30).trim()}…` : words;
}

/** Return the subject of a conflict in a few words. */
export function nameOf(conflict: OpenConflict): string {
  if (conflict.kind === "deleted") {
    const mine = conflict.ours === null;
    if (conflict.target === "page") return mine ? t("pageDeletedByYou") : t("pageDeletedInSpace");
    return mine ? t("deletedByYou") : t("deletedInSpace");
  }
  if (conflict.kind === "field") return FIELDS[conflict.field ?? ""] ?? conflict.field ?? t("setting");
  const text = String(conflict.ours ?? conflict.theirs ?? conflict.base ?? "");
  if (/```|~~~/.test(text)) return t("codeBlock");
  const words = begin(text);
  const kind = /^\s*#/.test(text)
    ? t("heading")
    : /^\s*([-*+]|\d+[.)])\s/.test(text)
    ? t("listItem")
    : /\|.*\|/.test(text)
    ? t("table")
    : t("text");
  return words ? t("kindWords", { kind, words }) : kind;
}

export const CHOSEN: Record<Side | "edited", string> = {
  base: t("youKeptOriginal"),
  ours: t("youKeptYours"),
  theirs: t("youKeptTheirs"),
  edited: t("youEditedResult"),
};
