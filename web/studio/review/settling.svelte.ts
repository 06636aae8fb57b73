/** Conflicts of a change request and how each was settled. What somebody chooses is shown at once and sent at once; the
 * server opens a settled conflict again. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { reopenConflictInChangeRequest, resolveConflictInChangeRequest } from "../api/changes.ts";
import { LABELS } from "../../generated/page-fields.ts";
import type { OpenConflict } from "../state/conflicts.ts";
import { refresh } from "../state/resource.svelte.ts";

export type Side = "base" | "ours" | "theirs";

export interface Choice {
  choice: Side | "edited";
  /** With `edited`: what is taken instead. */
  value?: unknown;
}

export class Settling {
  /** What is on its way to the server; `null`: the conflict is opened again. */
  #sent: Record<string, Choice | null> = $state({});
  /** What the server said against a choice. */
  refused: Record<string, string> = $state({});
  /** The conflict that is looked at. */
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

  /** Opens the conflict again that was settled, by default the last one; gives its id. */
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

  /** Waits until the server has all that was chosen. */
  async idle(): Promise<void> {
    await this.#queue;
  }

  /** One after the other: each makes a revision of the one before. */
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

/** The first words of a text, without the signs of Markdown around them. */
function begin(text: string): string {
  const line =
    text.split("\n").find((one) => /[\p{L}\p{N}]/u.test(one) && !/^\s*(```|~~~|\{%|<)/.test(one)) ?? "";
  const words = line.replace(/^[\s>#*+\-\d.|[\]]+/, "").replace(/[*_`|]/g, "").trim();
  return words.length > 32 ? `${words.slice(0, 30).trim()}…` : words;
}

/** What a conflict is about, in a few words. */
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
