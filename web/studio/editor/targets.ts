/** Finds targets of links and mentions by words: pages and their headings, and files of the space. */
import type { EditorView } from "prosemirror-view";
import { api, ask, askAll, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { readTopBlock } from "../document/convert.ts";
import type { BlockJson, Ref } from "../document/types.ts";
import { sizeOf } from "../parts/sizes.ts";
import { changeContent } from "../state/changing.ts";
import { notices } from "../state/notices.svelte.ts";
import { baseKey } from "../state/parts.ts";
import { refresh } from "../state/resource.svelte.ts";
import type { Base } from "./base.ts";
import type { Finders, Found } from "./linking.ts";
import type { Lookup } from "./lookup.ts";
import { anchorOf, headingsOf } from "./outline.ts";
import { loadPage } from "./page.ts";
import { words } from "./words.ts";

/** The number of milliseconds for which lists of headings and files are cached. */
const GOOD = 20_000;
const MOST_PAGES = 8;
const MOST_FILES = 6;
const MOST_HEADINGS = 3;
const MOST_READ = 3;

/** Cache a result for a while. Failures aren't cached. */
function remembered<T>(ask: () => Promise<T>): () => Promise<T> {
  let known: { at: number; found: Promise<T> } | undefined;
  return () => {
    if (!known || Date.now() - known.at > GOOD) {
      const found = ask();
      known = { at: Date.now(), found };
      found.catch(() => (known = undefined));
    }
    return known.found;
  };
}

/** Return the title and anchor of a heading block. */
function headingOf(block: BlockJson): { title: string; anchor: string }[] {
  if (!/^heading-\d$/.test(block.type)) return [];
  const title = readTopBlock(block).textContent.trim();
  const saved = (block.meta as { id?: string } | undefined)?.id;
  return title ? [{ title, anchor: saved ?? anchorOf(title) }] : [];
}

export function findersOf(
  space: string,
  base: Base,
  lookup: Lookup,
  view: () => EditorView | undefined,
): Finders {
  const path = { spaceId: space };
  const inChange = base.kind === "change" ? { ...path, changeRequestId: String(base.number) } : undefined;
  /** Search the pages that the change request edits, then those of main. */
  const searchPages = async (query: string): Promise<Schemas["SearchPage"][]> => {
    const options = { query, limit: MOST_PAGES };
    const [edited, published] = await Promise.all([
      inChange
        ? ask(api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}/search", {
          params: { path: inChange, query: options },
        }))
        : { items: [] },
      ask(api.GET("/spaces/{spaceId}/search", { params: { path, query: options } })),
    ]);
    const ids = new Set(edited.items.map(({ id }) => id));
    return [...edited.items, ...published.items.filter(({ id }) => !ids.has(id))];
  };
  const files = remembered(() =>
    askAll((query) =>
      inChange
        ? ask(api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}/content/files", {
          params: { path: inChange, query },
        }))
        : ask(api.GET("/spaces/{spaceId}/content/files", { params: { path, query } }))
    )
  );
  const documents = new Map<string, () => Promise<{ title: string; anchor: string }[]>>();
  /** Return the headings of another page; none if it can't be read now. */
  const drawnHeadings = (page: string): Promise<{ title: string; anchor: string }[]> => {
    const known = documents.get(page) ??
      remembered(async () => (await loadPage(space, base, page)).document.nodes.flatMap(headingOf));
    documents.set(page, known);
    return known().catch(() => []);
  };
  const headings = (typed: string): Found[] => {
    const here = view();
    if (!here) return [];
    return headingsOf(here).filter(({ text }) => text.toLowerCase().includes(typed)).slice(0, MOST_HEADINGS)
      .map(({ text, anchor }) => ({
        title: text,
        line: t("onThisPage"),
        group: words.headings,
        icon: "hashtag",
        ref: { kind: "anchor", anchor },
      }));
  };
  const pages = async (typed: string): Promise<Found[]> => {
    const wanted = typed.trim().toLowerCase();
    if (!wanted) return [];
    const searched = await searchPages(typed).catch((): Schemas["SearchPage"][] => []);
    const best = searched.slice(0, MOST_PAGES);
    // The first pages are read to find headings of this change request, too.
    const read = new Map(
      await Promise.all(
        best.slice(0, MOST_READ).map(async ({ id }) => [id, await drawnHeadings(id)] as const),
      ),
    );
    const sections = new Map(searched.map((each) => [each.id, each.sections]));
    const own = headings(wanted);
    const shown = new Set(own.map(({ ref }) => (ref as { anchor?: string }).anchor));
    const found: Found[] = [];
    for (const { id, title, ancestors } of best) {
      const line = ancestors.map((each) => each.title).join(" / ");
      found.push({ title, line, group: words.pages, icon: "file-lines", ref: { kind: "page", page: id } });
      const within = read.get(id)?.filter((each) => each.title.toLowerCase().includes(wanted)) ??
        (sections.get(id) ?? []).flatMap((each) => {
          const anchor = each.path.split("#")[1];
          return anchor && each.title !== title
            ? [{ title: each.title, anchor: decodeURIComponent(anchor) }]
            : [];
        });
      for (const each of within.filter(({ anchor }) => !shown.has(anchor)).slice(0, MOST_HEADINGS)) {
        found.push({
          title: each.title,
          group: words.pages,
          icon: "hashtag",
          within: true,
          ref: { kind: "anchor", page: id, anchor: each.anchor },
        });
      }
    }
    return [...own, ...found];
  };
  return {
    lookup,
    pages,
    async create(title) {
      const into = lookup.page ?? null;
      const { changes } = await changeContent(space, base, {
        changes: [{ operation: "insert_page", title, document: { markdown: "" }, into }],
      });
      refresh(`space/${space}/${baseKey(base)}`);
      notices.say(t("addedTitle", { title }));
      return { kind: "page", page: (changes[0]!.page as { id: string }).id };
    },
    async files(typed, image) {
      const wanted = typed.trim().toLowerCase();
      const { items } = await files().catch(() => ({ items: [] as Schemas["File"][] }));
      return items.filter(({ name, contentType }) =>
        name.toLowerCase().includes(wanted) && (!image || contentType.startsWith("image/"))
      ).slice(0, wanted ? MOST_FILES : 50).map((file) => ({
        title: file.name,
        line: sizeOf(file.size),
        group: words.files,
        icon: file.contentType.startsWith("image/") ? "image" : "file",
        ref: { kind: "file", file: file.id } as Ref,
      }));
    },
  };
}
