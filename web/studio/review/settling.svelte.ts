/** Conflicts of a change request and what somebody chose for each. Choices stay in this browser, where each can be taken
 * back, until they are sent: when the change request is merged, or when its conflicts are left. */
import { api, ask, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { refresh, type Resource, resource } from "../state/resource.svelte.ts";

export type OpenConflict = Schemas["OpenConflict"];
export type Side = "base" | "ours" | "theirs";

export interface Choice {
  choice: Side | "edited";
  /** With `edited`: what is taken instead. */
  value?: unknown;
  /** Both sides, one after the other. */
  both?: boolean;
}

export const conflictsOf = (space: string, number: number): Resource<OpenConflict[]> =>
  resource(`space/${space}/changes/${number}/conflicts`, async () => {
    const found: OpenConflict[] = [];
    let page: string | undefined;
    do {
      const answer = await ask(api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}/conflicts", {
        params: {
          path: { spaceId: space, changeRequestId: String(number) },
          query: { limit: 1000, ...(page ? { page } : {}) },
        },
      }));
      found.push(...answer.items);
      page = answer.next?.page;
    } while (page);
    return found;
  });

export class Settling {
  #choices: Record<string, Choice> = $state({});
  /** What the server said against a choice. */
  refused: Record<string, string> = $state({});
  /** The conflict that is looked at. */
  current: string | undefined = $state();
  #last: string[] = [];
  #key: string;

  constructor(readonly space: string, readonly number: number) {
    this.#key = `octavo-settling/${space}/${number}`;
    try {
      this.#choices = JSON.parse(localStorage.getItem(this.#key) ?? "{}");
    } catch {
      localStorage.removeItem(this.#key);
    }
  }

  of(conflict: OpenConflict): Choice | undefined {
    return this.#choices[conflict.id];
  }

  choose(conflict: OpenConflict, choice: Choice): void {
    this.#choices[conflict.id] = choice;
    delete this.refused[conflict.id];
    this.#last.push(conflict.id);
    this.#keep();
  }

  undo(id: string | undefined = this.#last.pop()): string | undefined {
    if (id === undefined) return undefined;
    this.#last = this.#last.filter((one) => one !== id);
    delete this.#choices[id];
    this.#keep();
    return id;
  }

  #keep(): void {
    if (Object.keys(this.#choices).length) localStorage.setItem(this.#key, JSON.stringify(this.#choices));
    else localStorage.removeItem(this.#key);
  }

  /** Sends the choices, one after the other. Throws what the first refused one was refused with; it is open again. */
  async send(): Promise<void> {
    const conflicts = await conflictsOf(this.space, this.number).refresh({ force: true });
    const wanted = conflicts.filter((one) => this.#choices[one.id]);
    for (const { id } of wanted) {
      const { choice, value } = this.#choices[id]!;
      try {
        await ask(
          api.POST("/spaces/{spaceId}/change-requests/{changeRequestId}/conflicts/{conflictId}/resolve", {
            params: { path: { spaceId: this.space, changeRequestId: String(this.number), conflictId: id } },
            body: { choice, ...(choice === "edited" ? { value } : {}) } as Schemas["ResolveConflict"],
          }),
        );
      } catch (problem) {
        this.refused[id] = (problem as Error).message;
        this.undo(id);
        throw problem;
      }
      this.undo(id);
    }
    if (wanted.length) await refresh(`space/${this.space}/changes/${this.number}`);
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
  title: t("Title"),
  description: t("Description of the page"),
  slug: t("Address of the page"),
  place: t("Place in the tree"),
  file: t("File"),
  value: t("Value"),
  hidden: t("Whether it is hidden"),
  icon: t("Icon"),
  emoji: t("Emoji"),
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
    if (conflict.target === "page") return mine ? t("Page deleted by you") : t("Page deleted in the space");
    return mine ? t("Deleted by you") : t("Deleted in the space");
  }
  if (conflict.kind === "field") return FIELDS[conflict.field ?? ""] ?? conflict.field ?? t("Setting");
  const text = String(conflict.ours ?? conflict.theirs ?? conflict.base ?? "");
  if (/```|~~~/.test(text)) return t("Code block");
  const words = begin(text);
  const kind = /^\s*#/.test(text)
    ? t("Heading")
    : /^\s*([-*+]|\d+[.)])\s/.test(text)
    ? t("List item")
    : /\|.*\|/.test(text)
    ? t("Table")
    : t("Text");
  return words ? t("{kind} “{words}”", { kind, words }) : kind;
}

export const CHOSEN: Record<Side | "edited", string> = {
  base: t("You put it back"),
  ours: t("You took yours"),
  theirs: t("You took theirs"),
  edited: t("You wrote the result"),
};
