/** The changes of a change request under review, and which of them the person has viewed. */
import { askAll, type Schemas } from "../../shared/client.ts";
import { n, t } from "../../shared/words.ts";
import {
  getChangeRequestChanges,
  listSeenInChangeRequest,
  markSeenInChangeRequest,
  unmarkSeenInChangeRequest,
} from "../api/changes.ts";
import { getPageInRevisionById } from "../api/content.ts";
import type { DocumentJson } from "../document/types.ts";
import { allChanges, changesOf, type Mark } from "../state/pages.svelte.ts";
import { notices } from "../state/notices.svelte.ts";
import { type Resource, resource } from "../state/resource.svelte.ts";
import { compareBlocks, type Row } from "./blocks.ts";

type Change = Schemas["SemanticChange"];
export type Fields = Record<string, { before?: unknown; after?: unknown }>;

export interface Entry {
  id: string;
  kind: "page" | "file" | "reusable" | "variables" | "tags";
  title: string;
  /** The part of the review's URL that identifies the entry. */
  path: string;
  mark: Mark;
  /** A summary of the changes, as text. */
  line: string;
  changes: Change[];
}

const MARKS: Record<string, Mark> = { created: "new", deleted: "deleted", moved: "moved", edited: "edited" };

function lineOf(type: string, change: Change): string {
  if (type === "created") return change.page ? t("newPage") : t("new");
  if (type === "deleted") return t("deleted");
  if (type === "moved") {
    const into = change.parent?.after;
    return into ? t("movedUnderTitle", { title: into.title }) : t("movedToTopLevel");
  }
  if (change.variables) {
    return n("valueCount", Object.keys(change.variables as object).length);
  }
  return t("edited");
}

/** Return one entry for each changed object. */
export function entriesOf(changes: Change[]): Entry[] {
  const found = new Map<string, Entry>();
  for (const change of changes) {
    const type = change.type.split("_").at(-1)!;
    const { page, file, reusableContent } = change;
    const others = change.tag ? "tags" : "variables";
    const id = page?.id ?? file?.id ?? reusableContent?.id ?? others;
    const before = found.get(id);
    const line = lineOf(type, change);
    if (before) {
      before.changes.push(change);
      before.line = before.line === t("edited") ? line : before.line;
      continue;
    }
    found.set(id, {
      id,
      kind: page ? "page" : file ? "file" : reusableContent ? "reusable" : others,
      title: page?.title ?? file?.name ?? reusableContent?.title ?? (change.tag ? t("tags") : t("variables")),
      path: page?.path || `~${id}`,
      mark: change.tag ? "edited" : MARKS[type] ?? "edited",
      line,
      changes: [change],
    });
  }
  return [...found.values()];
}

/** Return changes of tags by slug: labels before and after. */
export const tagFields = (changes: Change[]): Fields =>
  Object.fromEntries(
    changes.flatMap(({ type, tag, attributes }) => {
      if (!tag) return [];
      const label = (attributes as Fields | undefined)?.label;
      const before = type === "tag_created" ? undefined : label?.before ?? tag.label;
      const after = type === "tag_deleted" ? undefined : label?.after ?? tag.label;
      return [[tag.slug, { before, after }]];
    }),
  );

/** Return the fields of a page or file that changed. */
export const fieldsOf = (entry: Entry): Fields =>
  Object.assign({}, ...entry.changes.map((change) => change.attributes ?? {}));

/** The viewed marks, which are stored on the server. A mark is cleared when its object changes again. */
class Seen {
  /** Marks that are being sent. */
  #sent: Record<string, boolean> = $state({});
  /** The IDs of the last marks by object. They are cached because each row of a list needs them. */
  #read: { of?: Schemas["SeenMark"][]; ids: Set<string> } = { ids: new Set() };

  constructor(readonly space: string, readonly number: number) {}

  get #path() {
    return { spaceId: this.space, changeRequestId: String(this.number) };
  }

  get #marks(): Resource<Schemas["SeenMark"][]> {
    return resource(`space/${this.space}/changes/${this.number}/seen`, async () => {
      const { items } = await askAll((query) => listSeenInChangeRequest(this.#path, query));
      return items;
    });
  }

  /** Return whether the marks have loaded or failed to load. */
  get known(): boolean {
    return this.#marks.value !== undefined || this.#marks.problem !== undefined;
  }

  has(entry: Entry): boolean {
    const marks = this.#marks.value;
    if (marks !== this.#read.of) this.#read = { of: marks, ids: new Set(marks?.map(({ id }) => id)) };
    return this.#sent[entry.id] ?? this.#read.ids.has(entry.id);
  }

  async set(entry: Entry, revision: string, seen: boolean): Promise<void> {
    this.#sent[entry.id] = seen;
    const ids = { ...this.#path, objectId: entry.id };
    await notices.attempt(async () => {
      await (seen ? markSeenInChangeRequest(ids, { revision }) : unmarkSeenInChangeRequest(ids));
      await this.#marks.refresh({ force: true });
    });
    delete this.#sent[entry.id];
  }
}

const seen = new Map<string, Seen>();

export function seenOf(space: string, number: number): Seen {
  const key = `${space}/${number}`;
  let found = seen.get(key);
  if (!found) seen.set(key, found = new Seen(space, number));
  return found;
}

const since: Record<string, string | undefined> = $state({});

/** Return the revision with which changes are compared; undefined for the whole change request. */
export const sinceOf = (space: string, number: number): string | undefined => since[`${space}/${number}`];

export function lookSince(space: string, number: number, revision: string | undefined): void {
  since[`${space}/${number}`] = revision;
}

/** Return the changes under review: of the whole change request, or since a revision. */
export function reviewedOf(space: string, number: number): Resource<Schemas["SemanticChanges"]> {
  const revision = sinceOf(space, number);
  if (!revision) return changesOf(space, number);
  return allChanges(
    `space/${space}/changes/${number}/changes/${revision}`,
    (query) =>
      getChangeRequestChanges({ spaceId: space, changeRequestId: String(number) }, {
        ...query,
        since: revision,
      }),
  );
}

export interface PagePair {
  before?: Schemas["DocumentPage"];
  after?: Schemas["DocumentPage"];
  rows: Row[];
}

/** Compare a changed page of a change request block by block. */
export function pairOf(change: Schemas["ChangeRequest"], entry: Entry): Resource<PagePair> {
  const { space, number, revision } = change;
  const base = sinceOf(space, number) ?? change.revisionMergedAncestor ?? change.revisionInitial;
  return pairBetween(space, base, revision, entry);
}

/** Compare a page between any two revisions. Without a first one, the page is new. */
export function pairBetween(
  space: string,
  base: string | undefined,
  revision: string,
  entry: Entry,
): Resource<PagePair> {
  const has = (type: string): boolean => entry.changes.some((one) => one.type.endsWith(type));
  return resource(`space/${space}/reviewed/${base}/${revision}/${entry.id}`, async () => {
    const read = async (revisionId: string) =>
      await getPageInRevisionById({
        spaceId: space,
        revisionId,
        pageId: entry.id,
      }) as Schemas["DocumentPage"];
    const [before, after] = await Promise.all([
      has("_created") || !base ? undefined : read(base),
      has("_deleted") ? undefined : read(revision),
    ]);
    const document = (page?: Schemas["DocumentPage"]) =>
      page?.document as unknown as DocumentJson | undefined;
    return { before, after, rows: compareBlocks(document(before), document(after)) };
  });
}

/** Return a summary such as `4 blocks changed, 1 deleted`, once it is known. */
export function countedLine(rows: Row[]): string {
  const count = (...kinds: Row["kind"][]) => rows.filter(({ kind }) => kinds.includes(kind)).length;
  const [changed, moved, removed] = [count("changed", "added"), count("moved"), count("removed")];
  return [
    changed && n("blockChangedCount", changed),
    moved && n("movedCount", moved),
    removed && n("deletedCount", removed),
  ].filter(Boolean).join(", ");
}

/** Summaries of compared pages, by ID. */
export const counted: Record<string, string> = $state({});

/** The current position in a review, which the side list shows. */
export const place: { id?: string } = $state({});

const SIDES = "octavo-side-by-side";

/** Whether the person compares pages side by side in this browser. */
class Sides {
  chosen = $state(localStorage.getItem(SIDES) === "on");

  choose(wanted: boolean): void {
    this.chosen = wanted;
    localStorage.setItem(SIDES, wanted ? "on" : "off");
  }
}

export const sides = new Sides();
