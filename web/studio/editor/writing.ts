/** A page that is being edited: the plugins of its view, and its storage (see `livepage.ts`). */
import { Fragment, type Node, Slice } from "prosemirror-model";
import { redo, undo } from "prosemirror-history";
import { Plugin, PluginKey, type Transaction } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { api, ApiError, ask, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { same } from "../document/comparing.ts";
import { writeBlock } from "../document/convert.ts";
import type { BlockJson, DocumentJson } from "../document/types.ts";
import { changeContent, type Changes, ownRevisions } from "../state/changing.ts";
import { readBytes } from "../state/fileInput.ts";
import { live } from "../state/live.svelte.ts";
import { outdate } from "../state/resource.svelte.ts";
import { notices } from "../state/notices.svelte.ts";
import { session } from "../state/session.svelte.ts";
import { onSignedIn, sessionEnded } from "../state/signin.ts";
import { type About, type Base, editedBase, IN_MAIN, type PageHandle, type SaveState } from "./base.ts";
import { beginnings, type Kept } from "./emptypage.ts";
import { uniqueKeys } from "./blockkeys.ts";
import { carets, nameOf, showCaret, tellCarets, whereIs } from "./carets.ts";
import { cellTools } from "./celltools.ts";
import { mergedCellsShown } from "./mergedcells.ts";
import { clipboard } from "./clipboard.ts";
import { completing } from "./completing.ts";
import { editingPlugins } from "./editing.ts";
import { faultMarks } from "./faultmarks.ts";
import { finding, openFind } from "./finding.ts";
import { blockHandle, boxOf, openBlockMenu } from "./handle.ts";
import { type Draft, dropDraft, keepDraft, leftDrafts, nameTab } from "./storeddrafts.ts";
import type { KeptPage } from "./storedpage.ts";
import { LivePage, openLive } from "./livepage.ts";
import { type NoteWords, noting, openNote } from "./annotations.ts";
import { findWith, openLink } from "./linking.ts";
import { imageTools } from "./imagetools.ts";
import type { Lookup } from "./lookup.ts";
import { type LoadedPage, loadPage } from "./page.ts";
import { closeSettings, followSettings } from "./opening.ts";
import { PageChecks } from "./pagechecks.ts";
import { chosen } from "./threadmarks.ts";
import { SavedText } from "./savedtext.ts";
import { Sender } from "./sender.ts";
import { findersOf } from "./targets.ts";
import { toolbar } from "./toolbar.ts";
import { triggers } from "./triggers.ts";
import { asNew } from "./blocks.ts";
import { words } from "./words.ts";
import { askForFile, isUploading, oneByOne, sendWith, takeFiles, type Upload, uploads } from "./uploads.ts";
import { readInput } from "./pendinginput.ts";

/** The interval in milliseconds between checks for other people's saves, without and with an event stream. */
const LOOK = 20_000;
const LOOK_TOO = 120_000;
/** The number of milliseconds for which a change by another person is shown in the status. */
const SAID = 6_000;
/** The number of milliseconds to wait for a response before a save counts as unanswered. */
const ANSWER = 30_000;

const FIELDS = ["title", "description"] as const;

export type Fields = Record<(typeof FIELDS)[number], string>;

/** The document that is being edited: a page with live editing, or text that pages share, which is saved as a whole. */
export interface Subject {
  load: (base: Base) => Promise<LoadedPage>;
  /** Create the storage of the text. If undefined, the subject is a page with live editing. */
  changes?: (blocks: BlockJson[]) => Changes;
}

export function pageSubject(space: string, page: string): Subject {
  return { load: (base) => loadPage(space, base, page) };
}

export interface WritingOptions {
  space: string;
  /** The number of the change request, or `IN_MAIN`. */
  change: number;
  subject: Subject;
  loaded: LoadedPage;
  lookup: Lookup;
  onstate?: (state: SaveState) => void;
  onproblem?: (problem: Error) => void;
  /** Called when the change request has a new revision with the changes made here. */
  onsaved?: () => void;
  oncomment?: (about: About) => void;
  /** Called when the server has stored text that couldn't be placed. */
  onaside?: () => void;
}

export interface Writing {
  /** The initial text, including changes stored in this browser. */
  doc: Node;
  title: string;
  description: string;
  plugins: Plugin[];
  handle: Omit<PageHandle, "chosen" | "remark" | "show">;
  attach: (view: EditorView, onfields: (fields: Fields) => void) => void;
  changed: (transaction: Transaction) => void;
  changedFields: (fields: Fields) => void;
  stop: () => void;
}

const refusedKey = new PluginKey<ReadonlySet<string>>("refused");

/** Return a plugin that shows a message at blocks that the server can't save. */
function refusals(): Plugin {
  return new Plugin<ReadonlySet<string>>({
    key: refusedKey,
    state: {
      init: () => new Set(),
      apply: (transaction, before) => transaction.getMeta(refusedKey) ?? before,
    },
    props: {
      decorations(state) {
        const keys = refusedKey.getState(state)!;
        if (!keys.size) return null;
        const found: Decoration[] = [];
        state.doc.forEach((node, at) => {
          if (!keys.has(node.attrs.key)) return;
          const attributes = { class: "refused", "data-refused": t("blockCantBeSaved") };
          found.push(Decoration.node(at, at + node.nodeSize, attributes));
        });
        return DecorationSet.create(state.doc, found);
      },
    },
  });
}

/** The order of statuses from best to worst. If text and fields have different ones, the worse one is shown. */
const WORSE: Record<SaveState["kind"], number> = {
  saved: 0,
  changed: 1,
  catching: 2,
  saving: 3,
  maintenance: 4,
  offline: 5,
  unsaved: 6,
};

export async function startWriting(options: WritingOptions): Promise<Writing> {
  const { space, change, subject, loaded } = options;
  const base = editedBase(change);
  const onproblem = (problem: Error): void => {
    if (problem instanceof ApiError && problem.status === 401) sessionEnded();
    else options.onproblem?.(problem);
  };
  const { tab, end } = nameTab();
  const page = loaded.page.id;
  const place = { space, change, page };
  const left = await leftDrafts(space, change, page).catch((): Draft[] => []);
  const opened = subject.changes ? undefined : await openLive(place);

  let view: EditorView | undefined;
  let showFields: (fields: Fields) => void = () => {};
  let stopped = false;

  // --- save status ---

  let texted: SaveState = { kind: "saved" };
  let fielded: SaveState = { kind: "saved" };
  let saying: ReturnType<typeof setTimeout> | undefined;
  let somebody: string = words.someone;
  let sayUntil = 0;

  /** Report the save status of the text. If the text is saved, the last change by another person is shown for a
   * while. */
  const tell = (): void => {
    const worse = WORSE[texted.kind] > WORSE[fielded.kind] ? texted : fielded;
    clearTimeout(saying);
    const left = sayUntil - performance.now();
    if (worse.kind !== "saved" || left <= 0) return options.onstate?.(worse);
    options.onstate?.({ kind: "changed", by: somebody });
    saying = setTimeout(tell, left);
  };
  const say = (who: string): void => {
    somebody = who;
    sayUntil = performance.now() + SAID;
    tell();
  };

  // --- changes of other tabs ---

  const draft = left.pop();
  /** Drafts that are part of this tab's text. They are deleted once this tab has stored it. */
  const taken: Draft[] = draft ? [draft] : [];
  /** The changes that this tab stores in this browser. */
  let record: { fields?: Partial<Fields> | undefined; live?: KeptPage | undefined } = { ...draft };
  const keep = async (what: typeof record): Promise<void> => {
    record = { ...record, ...what };
    const { fields, live: kept } = record;
    if (fields || kept) {
      const rest = kept ? { live: kept } : {};
      await keepDraft({ ...place, ...rest, tab, fields: fields ?? {}, at: Date.now() });
    } else await dropDraft({ ...place, tab });
    await Promise.all(taken.splice(0).map((each) => dropDraft(each)));
  };

  // --- title and description ---

  let saved: Fields = fieldsOf(loaded);
  let fields: Fields = { ...saved, ...draft?.fields };
  /** The fields that this tab has saved. */
  const written = new Set<string>();
  /** Return the changed fields. A page needs a title; while it has none, the last title is kept. */
  const changedFields = (): Partial<Fields> | undefined => {
    const found = { ...fields, title: fields.title.trim() ? fields.title : saved.title };
    const names = FIELDS.filter((name) => found[name] !== saved[name]);
    return names.length ? Object.fromEntries(names.map((name) => [name, found[name]])) : undefined;
  };
  const sender = new Sender({
    isDirty: () => changedFields() !== undefined,
    async send() {
      const changes = changedFields()!;
      const body = {
        changes: [{ operation: "update_page", page, ...changes }] as Changes,
        baseRevision: null,
      };
      const answer = await changeContent(space, base, body, AbortSignal.timeout(ANSWER));
      live.made(answer.revision!);
      saved = { ...saved, ...changes };
      for (const name of Object.keys(changes)) written.add(name);
      options.onsaved?.();
    },
    keep: () => keep({ fields: changedFields() }),
    onstate(state) {
      fielded = state;
      tell();
    },
    onproblem,
  });

  // --- the text ---

  const common = {
    tab,
    ...(draft?.live ? { kept: draft.live } : {}),
    keep: (kept: KeptPage | undefined) => keep({ live: kept }),
    onstate(state: SaveState) {
      texted = state;
      tell();
    },
  };
  const livePage = opened && new LivePage({
    ...place,
    ...common,
    user: session.user.value?.id ?? null,
    followed: loaded.change ?? space,
    opened,
    onproblem,
    onend: end,
    onrestored: (restored, by) => view && tellCarets(view, { restored, by: nameOf(view.state, by) }),
    onaside: () => options.onaside?.(),
    oncaret({ client, user, anchor, head }) {
      if (!view) return;
      if (anchor === null || head === null) tellCarets(view, { gone: { client, user } });
      else {
        const [from, to] = [anchor, head].map((place) => livePage!.placeOf(place)) as [number, number];
        tellCarets(view, { caret: { client, user, anchor: from, head: to } });
        if (followed === user.id) showCaret(view, user.id);
      }
    },
    onsaved(refused) {
      if (!refused.includes(page)) options.onsaved?.();
      showRefused(refused);
    },
  });
  const showRefused = (keys: readonly string[]): void => {
    if (keys.includes(page)) onproblem(new Error(t("pageTooLargeToSave")));
    if (view && (keys.length || refusedKey.getState(view.state)?.size)) {
      view.dispatch(readInput(view).tr.setMeta(refusedKey, new Set(keys)));
    }
  };
  const text = livePage ?? new SavedText({
    ...common,
    loaded,
    onproblem,
    load: () => subject.load(base),
    async save(blocks, baseRevision) {
      const body = { changes: subject.changes!(blocks), baseRevision };
      const answer = await changeContent(space, base, body, AbortSignal.timeout(ANSWER));
      const revision = answer.mergedRevision ?? answer.revision!;
      live.made(revision);
      return answer.mergedRevision ? { revision, merged: await subject.load(base) } : { revision };
    },
  });

  /** Apply other people's changes. Local changes stay, and are part of the next save. */
  async function look(by?: string): Promise<void> {
    if (stopped || !view || document.visibilityState === "hidden" || !navigator.onLine) return;
    looked = performance.now();
    if (text instanceof SavedText) {
      if (await text.look() && by) say(by);
      return;
    }
    const theirs = fieldsOf(await subject.load(base));
    if (stopped || same(theirs, saved)) return;
    const own = changedFields();
    for (const name of FIELDS) {
      const before = saved[name];
      if (!written.has(name) || theirs[name] === before || own?.[name] !== undefined) continue;
      const values = { name: by ?? words.someone, title: theirs.title };
      notices.say(name === "title" ? t("nameRetitledPage", values) : t("nameChangedDescription", values), {
        undo: () => {
          showFields(fields = { ...fields, [name]: before });
          sender.changed();
        },
      });
    }
    saved = theirs;
    showFields(fields = { ...theirs, ...own });
  }

  let looked = performance.now();

  /** Add the changes of other tabs and of another change request. */
  async function takeRest(): Promise<void> {
    for (const each of left) {
      if (each.live) await text.adopt(each.live);
      if (stopped) return;
      taken.push(each);
      fields = { ...fields, ...each.fields };
    }
    showFields(fields);
    sender.changed();
  }

  const finders = findersOf(space, base, options.lookup, () => view);

  let organization: string | undefined;
  const people = async (typed: string) => {
    organization ??=
      (await ask(api.GET("/spaces/{spaceId}", { params: { path: { spaceId: space } } }))).organization;
    const found = await ask(
      api.GET("/orgs/{organizationId}/members", {
        params: { path: { organizationId: organization }, query: { search: typed, limit: 6 } as never },
      }),
    );
    const items = found.items as unknown as { user?: { id: string; displayName: string } }[];
    return items.flatMap((
      { user },
    ) => (user && user.displayName.toLowerCase().includes(typed.toLowerCase())
      ? [{ id: user.id, name: user.displayName }]
      : [])
    );
  };

  const upload: Upload = oneByOne(async (file) => {
    const name = file.name || `picture.${file.type.split("/")[1]?.replace("+xml", "") ?? "bin"}`;
    const answer = await changeContent(space, base, {
      baseRevision: null,
      changes: [{ operation: "insert_files", files: [await readBytes(space, file, name)] }],
    });
    const made = answer.insertedFiles?.[0];
    if (made === undefined) throw new ApiError(502, t("serverDidntReturnFileLocation"));
    return { file: made.id };
  });

  const sendFiles = (target: EditorView, files: File[], at: number): void =>
    takeFiles(target, files, at, upload, onproblem);

  const controller = new AbortController();
  const { signal } = controller;
  const timer = setInterval(() => {
    if (!live.connected || performance.now() - looked > LOOK_TOO) void look().catch(() => {});
  }, LOOK);
  const again = (): void => {
    sender.again();
    text.again();
  };
  const flush = async (): Promise<void> => {
    await Promise.all([sender.flush(), text.flush()]);
  };
  const keptAt = (): "server" | "browser" | "nowhere" => {
    const places = [sender.kept, text.kept];
    return (["nowhere", "browser", "server"] as const).find((each) => places.includes(each))!;
  };
  const waitNoMore = onSignedIn(again);
  const deafen = live.hear((news) => {
    if (news.kind === "ready" || news.kind === "reset") void look().catch(() => {});
    // Creations of the page, and saves of live editing, contain nothing new for this tab.
    if (opened && news.kind === "revision" && news.revisionId! <= opened.revision) return;
    if (news.kind !== "revision" || news.changeRequestId !== loaded.change || news.live) return;
    if (livePage && news.pageIds && !news.pageIds.includes(page)) return;
    const by = news.user?.id === session.user.value?.id
      ? words.yourself
      : news.user?.displayName ?? words.someone;
    if (livePage && !ownRevisions.has(news.revisionId!)) say(by);
    void look(by).catch(() => {});
  });
  addEventListener("online", again, { signal });
  addEventListener("offline", () => livePage?.offline(), { signal });
  addEventListener("focus", again, { signal });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") void flush().catch(() => {});
  }, { signal });
  addEventListener("beforeunload", (event) => {
    void flush().catch(() => {});
    if (keptAt() === "nowhere" || (view && isUploading(view))) event.preventDefault();
  }, { signal });
  /** The person whose caret is followed until the next action here. */
  let followed: string | undefined;
  const letGo = (): void => {
    followed = undefined;
  };
  for (const event of ["keydown", "pointerdown", "wheel"]) {
    addEventListener(event, letGo, { signal, passive: true });
  }

  const checks = new PageChecks(() => view, page);
  const noteWords: NoteWords = {
    read: async (markdown) =>
      (await convert(space, { markdown })).document.nodes.map((block) => writeBlock(asNew(block))),
    write: async (nodes) =>
      (await convert(space, { document: { object: "document", nodes } as never })).markdown.trim(),
  };
  const tools = {
    ...(options.oncomment ? { comment: options.oncomment } : {}),
    note: (target: EditorView) => void openNote(target, noteWords),
  };
  const blockTools = {
    ...tools,
    ...(change === IN_MAIN || subject.changes ? {} : {
      reuse: (target: EditorView) =>
        void notices.attempt(async () =>
          (await import("./reusing.ts")).makeReusable(target, place, () => options.lookup.forget())
        ),
    }),
  };
  const kept: Kept = {
    list: async () => {
      options.lookup.forget();
      return (await options.lookup.shared()).contents;
    },
    read: async (id) => {
      const found = await options.lookup.reusable({ kind: "reusable-content", reusableContent: id });
      return found?.document.nodes.map(asNew) ?? [];
    },
    onproblem,
  };
  return {
    doc: text.doc,
    ...fields,
    plugins: [
      completing(
        triggers({
          pages: finders.pages,
          files: finders.files,
          create: finders.create,
          onproblem,
          people,
          shared: () => options.lookup.shared(),
          preview: (url) => options.lookup.preview(url),
          askFor: (target, what) => askForFile(target, what, (files, at) => sendFiles(target, files, at)),
        }),
      ),
      cellTools(tools),
      mergedCellsShown(),
      whenFirst(
        "mouseover",
        async (view, event) => (await import("./linkpreview.ts")).previewLinks(view, options.lookup, event),
      ),
      clipboard({
        readMarkdown: (text) => readMarkdown(space, text),
        takeFiles: sendFiles,
      }),
      ...editingPlugins({
        save: () => void flush().catch(() => {}),
        link: openLink,
        find: openFind,
        comment(target) {
          const about = chosen(target.state);
          if (about) options.oncomment?.(about);
        },
        menu: (target) => openBlockMenu(target, boxOf(target), blockTools),
      }),
      ...(livePage ? [beginnings(kept)] : []),
      uploads(),
      finding(),
      noting(noteWords),
      uniqueKeys(),
      ...(livePage ? [carets(() => livePage.moved()), refusals(), faultMarks()] : []),
      toolbar(tools),
      imageTools(tools),
      // Inside a page, reusable content has its own handle in the gutter.
      ...(livePage
        ? [
          whenFirst("dragover", async (view) => (await import("./dropbeside.ts")).dropBeside(view)),
          blockHandle(blockTools),
        ]
        : []),
    ],
    handle: {
      ...(livePage ? { checks } : {}),
      flush,
      kept: keptAt,
      follow(user) {
        followed = user;
        return view !== undefined && showCaret(view, user);
      },
      find: (user) => view && whereIs(view, user),
      async insert(markdown) {
        const nodes = await readMarkdown(space, markdown);
        if (view) view.dispatch(view.state.tr.replaceSelection(new Slice(Fragment.from(nodes), 0, 0)));
      },
      undo: () => view !== undefined && undo(view.state, view.dispatch, view),
      redo: () => view !== undefined && redo(view.state, view.dispatch, view),
      focus: () => view?.focus(),
    },
    attach(attached, onfields) {
      view = attached;
      showFields = onfields;
      findWith(view, finders);
      sendWith(view, upload);
      tell();
      text.attach(view);
      for (const { client, user, anchor, head } of opened?.carets ?? []) {
        if (anchor !== null && head !== null) tellCarets(view, { caret: { client, user, anchor, head } });
      }
      if (opened) showRefused(opened.refused);
      if (draft) sender.changed();
      if (left.length) takeRest().catch(onproblem);
    },
    changed(transaction) {
      text.changed(transaction);
      if (view) followSettings(view, transaction);
    },
    changedFields(next) {
      fields = next;
      sender.changed();
    },
    stop() {
      stopped = true;
      checks.stop();
      if (view) closeSettings(view);
      deafen();
      waitNoMore();
      clearTimeout(saying);
      clearInterval(timer);
      controller.abort();
      void Promise.all([sender.stop(), text.stop()]).finally(() => {
        end();
        // Other screens of the change request, such as its review, show all of what was saved here.
        outdate(`space/${space}/changes/`);
      });
    },
  };
}

function fieldsOf({ page }: LoadedPage): Fields {
  return { title: page.title, description: page.description ?? "" };
}

/** Convert text between blocks and Markdown, as the server does. */
async function convert(
  space: string,
  body: Schemas["ConvertText"],
): Promise<{ markdown: string; document: DocumentJson }> {
  const found = await ask(
    api.POST("/spaces/{spaceId}/content/convert", { params: { path: { spaceId: space } }, body }),
  );
  return found as unknown as { markdown: string; document: DocumentJson };
}

/** Convert Markdown to blocks of a page. */
async function readMarkdown(space: string, text: string): Promise<Node[]> {
  const { document } = await convert(space, { markdown: text });
  return document.nodes.map(asNew);
}

/** Return a plugin whose code is loaded when this happens to the page for the first time. `start` returns a function
 * that ends it. */
function whenFirst(
  type: "mouseover" | "dragover",
  start: (view: EditorView, event: MouseEvent) => Promise<() => void>,
): Plugin {
  return new Plugin({
    view(view) {
      const ended = new AbortController();
      const { signal } = ended;
      view.dom.parentElement!.addEventListener(type, async (event) => {
        const stop = await start(view, event);
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop);
      }, { once: true, signal });
      return { destroy: () => ended.abort() };
    },
  });
}
