/** A page being written: the plugins of its view, and what keeps it (see `saving.ts`). */
import { Fragment, type Node, Slice } from "prosemirror-model";
import { redo, undo } from "prosemirror-history";
import { EditorState, Plugin, PluginKey, type Transaction } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { api, ApiError, ask, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { childrenOf, isWritten, readDocument, same, writeBlock } from "../document/convert.ts";
import { newKey } from "../document/schema.ts";
import type { BlockJson, DocumentJson } from "../document/types.ts";
import { type Answer, changeContent, type Changes } from "../state/changing.ts";
import { readBytes } from "../state/contents.svelte.ts";
import { live } from "../state/live.svelte.ts";
import { session } from "../state/session.svelte.ts";
import { onSignedIn, sessionEnded } from "../state/signin.ts";
import type { About, Base, PageHandle, SaveState } from "./base.ts";
import { beginnings, type Kept } from "./beginnings.ts";
import { uniqueKeys } from "./blockkeys.ts";
import { carets, nameOf, showCaret, tellCarets } from "./carets.ts";
import { clipboard } from "./clipboard.ts";
import { completing } from "./completing.ts";
import { applyChanges } from "./differences.ts";
import { editingPlugins } from "./editing.ts";
import { loadEmoji } from "./emoji.ts";
import { finding, openFind } from "./finding.ts";
import { blockHandle } from "./handle.ts";
import { type Draft, dropDraft, keepDraft, leftDrafts, nameTab } from "./keeping.ts";
import type { KeptPage } from "./kept.ts";
import { LivePage, openLive } from "./livepage.ts";
import { asNew, makeReusable } from "./reusing.ts";
import { type NoteWords, noting, openNote } from "./noting.ts";
import { type FindPages, findWith, openLink } from "./linking.ts";
import type { Lookup } from "./lookup.ts";
import { type LoadedPage, loadPage, readPage } from "./page.ts";
import { chosen } from "./remarks.ts";
import { rebased, replaceTop, type Unsent, unsentOf, withRemote } from "./remote.ts";
import { blocksOf, type Fields, type Save, type Saved, Saver } from "./saving.ts";
import { toolbar } from "./toolbar.ts";
import { triggers } from "./triggers.ts";
import { words } from "./words.ts";
import { askForFile, sendWith, takeFiles, type Upload, uploads } from "./uploads.ts";

/** How often it is asked whether somebody else saved, where nobody tells it, and where it is told. */
const LOOK = 20_000;
const LOOK_TOO = 120_000;
/** How long it is said that somebody changed the page. */
const SAID = 6_000;
/** How long an answer may take before a save counts as not answered. */
const ANSWER = 30_000;
/** How long the word that a revision is a save of what is written live may come later than the revision. */
const SAVING = 1_000;

/** What is written: a page, or a text that pages show. */
export interface Subject {
  kind: "page" | "reusable";
  load: (base: Base) => Promise<LoadedPage>;
  /** What a save asks the server to change; `whole`: all its blocks as they are then. */
  changes: (save: Save, whole: () => BlockJson[]) => Changes;
  /** What an answer to a save says of it, which somebody else's changes may be in; undefined where it is as it was sent. */
  merged: (answer: Answer, revision: string) => LoadedPage | undefined | Promise<LoadedPage>;
}

export function pageSubject(space: string, page: string): Subject {
  return {
    kind: "page",
    load: (base) => loadPage(space, base, page),
    changes({ fields, blocks }) {
      const changes: unknown[] = [];
      if (Object.keys(fields).length) changes.push({ operation: "update_page", page, ...fields });
      if (blocks) changes.push({ operation: "update_blocks", page, ...blocks });
      return changes as Changes;
    },
    merged({ changes }, revision) {
      const pages = changes.map((each) => each.page as object);
      const found = pages.findLast((each) => "document" in each);
      return found && readPage(found, revision);
    },
  };
}

export interface WritingOptions {
  space: string;
  change: number;
  subject: Subject;
  loaded: LoadedPage;
  lookup: Lookup;
  onstate?: (state: SaveState) => void;
  onproblem?: (problem: Error) => void;
  oncomment?: (about: About) => void;
  /** There are words that found no place, on the server. */
  onaside?: () => void;
}

export interface Writing {
  /** The text to begin with: what was kept here is in it. */
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

const refusedKey = new PluginKey<{ keys: Set<string>; message: string }>("refused");

/** Blocks that the server did not take have its words beside them. */
function refusals(): Plugin {
  return new Plugin({
    key: refusedKey,
    state: {
      init: () => ({ keys: new Set<string>(), message: "" }),
      apply: (transaction, before) => transaction.getMeta(refusedKey) ?? before,
    },
    props: {
      decorations(state) {
        const { keys, message } = refusedKey.getState(state)!;
        if (!keys.size) return null;
        const found: Decoration[] = [];
        state.doc.forEach((node, at) => {
          if (keys.has(node.attrs.key)) {
            found.push(
              Decoration.node(at, at + node.nodeSize, { class: "refused", "data-refused": message }),
            );
          }
        });
        return DecorationSet.create(state.doc, found);
      },
    },
  });
}

export async function startWriting(options: WritingOptions): Promise<Writing> {
  const { space, change, subject } = options;
  const base: Base = { kind: "change", number: change };
  const path = { spaceId: space, changeRequestId: String(change) };
  const onproblem = (problem: Error): void => {
    if (problem instanceof ApiError && problem.status === 401) sessionEnded();
    else options.onproblem?.(problem);
  };
  const { tab, end } = nameTab();
  let { loaded } = options;
  const page = loaded.page.id;
  const place = { space, change, page };
  const left = await leftDrafts(space, change, page).catch((): Draft[] => []);
  const opened = subject.kind === "page" ? await openLive(place) : undefined;
  void loadEmoji();

  let view: EditorView | undefined;
  let showFields: (fields: Fields) => void = () => {};
  let unsent: Unsent[] = [];
  let sentSteps = 0;
  let sentDoc: Node | undefined;
  let stopped = false;

  /** How far the text is kept where it is written live, beside the fields. */
  let texted: SaveState = { kind: "saved" };
  let state: SaveState = { kind: "saved" };
  let saying: ReturnType<typeof setTimeout> | undefined;
  let somebody: string = words.somebody;

  let sayUntil = 0;

  /** How far the text is kept; where it is, who changed the page just before is said for a while. */
  const tell = (given: SaveState): void => {
    state = given;
    const told = given.kind === "saved" ? texted : given;
    clearTimeout(saying);
    const left = sayUntil - performance.now();
    if (told.kind !== "saved" || left <= 0) return options.onstate?.(told);
    options.onstate?.({ kind: "changed", by: somebody });
    saying = setTimeout(() => tell(state), left);
  };

  const fieldsOf = ({ page }: LoadedPage): Fields => ({
    title: page.title,
    description: page.description ?? "",
  });
  let fields = fieldsOf(loaded);

  /** The page that a draft is about: as it was then, or as it is now where that state is gone. */
  const baseOf = (draft: Draft): Promise<LoadedPage> | LoadedPage =>
    draft.revision === loaded.revision
      ? loaded
      : subject.load({ kind: "revision", id: draft.revision }).catch((problem: unknown) => {
        if (problem instanceof ApiError && problem.status === 404) return loaded;
        throw problem;
      });
  const withChanges = ({ nodes }: DocumentJson, { blocks }: Pick<Draft, "blocks">): BlockJson[] =>
    blocks ? applyChanges(nodes, blocks) : nodes;

  // What another tab of this browser left is taken up where it was: on its revision, as what is not saved yet.
  const last = left.findLastIndex((each) => opened ? each.live !== undefined : !each.moved);
  let draft = last < 0 ? undefined : left.splice(last, 1)[0];
  if (draft !== undefined) {
    try {
      if (!opened) loaded = { ...await baseOf(draft), change: loaded.change };
      fields = { ...fieldsOf(loaded), ...draft.fields };
    } catch (problem) {
      // It stays in this browser.
      draft = undefined;
      onproblem(problem as Error);
    }
  }
  const sent = !opened && draft?.sent && draft.sent.revision === loaded.revision ? draft.sent : undefined;
  let confirmed = readDocument(sent ? { nodes: withChanges(loaded.document, sent) } : loaded.document);
  const livePage = opened && new LivePage({
    ...place,
    tab,
    changeId: loaded.change!,
    opened,
    ...(draft?.live ? { kept: draft.live } : {}),
    keep(kept) {
      record.live = kept;
      return keepRecord();
    },
    onstate(told) {
      texted = told;
      tell(state);
    },
    onproblem,
    onrestored: (restored, by) => view && tellCarets(view, { restored, by: nameOf(view.state, by) }),
    onaside: () => options.onaside?.(),
    oncaret({ client, user, anchor, head }) {
      if (!view) return;
      if (anchor === null || head === null) tellCarets(view, { gone: client });
      else {
        const [from, to] = [anchor, head].map((place) => livePage!.placeOf(place)) as [number, number];
        tellCarets(view, { caret: { client, user, anchor: from, head: to } });
        if (followed === user.id) showCaret(view, user.id);
      }
    },
    onsaved(revision) {
      savedAs.add(revision);
      saver.revision = revision;
    },
  });
  /** The revisions that what is written live was saved as. */
  const savedAs = new Set<string>();
  const doc = livePage ? livePage.doc : confirmed;
  /** Drafts whose text is in this tab: gone once this one has kept it. */
  const taken: Draft[] = draft ? [draft] : [];
  const dropTaken = async (): Promise<void> => {
    await Promise.all(taken.splice(0).map((each) => dropDraft(each)));
  };

  /** What this tab keeps in this browser: of the fields, and of what is written live. */
  const record: { own?: Pick<Draft, "revision" | "blocks" | "fields" | "sent">; live?: KeptPage } = {};
  const keepRecord = async (): Promise<void> => {
    const { own, live: kept } = record;
    if (own || kept) {
      const about = own ?? { revision: loaded.revision, blocks: null, fields: {} };
      await keepDraft({ ...about, ...(kept ? { live: kept } : {}), ...place, tab, at: Date.now() });
    } else await dropDraft({ ...place, tab });
    await dropTaken();
  };

  const send = async (save: Save): Promise<Saved> => {
    const changes = subject.changes(
      save,
      () => save.blocks ? applyChanges(saver.saved, save.blocks) : saver.saved,
    );
    const onConflict: Schemas["ChangeContent"]["onConflict"] = save.refuse ? "refuse" : "keep";
    const body = { changes, baseRevision: save.revision, onConflict };
    const answer = await changeContent(space, base, body, AbortSignal.timeout(ANSWER));
    const revision = answer.mergedRevision ?? answer.revision!;
    live.made(revision);
    const merged = answer.mergedRevision && await subject.merged(answer, revision);
    if (answer.result === "refused") return { revision, refused: merged || null };
    return {
      revision,
      ...(merged ? { merged } : {}),
      ...(answer.result === "conflicts" ? { clash: somebody } : {}),
    };
  };

  /** Brings a page as the server has it now into the text. `from`: the text that it came of, which has the first `steps` of
   * what is unsent in it. False where both changed the same, so that the server has to keep the one beside the other. */
  function takeIn(found: LoadedPage, from: { doc: Node; steps: number; fields: Fields }): boolean {
    // The view is gone by now; what was not sent is kept in this browser, on top of what was known here.
    if (stopped) return from.steps === unsent.length && same(fields, from.fields);
    // What was just written has keys then, by which it is found again.
    prepare();
    const steps = unsent.slice(from.steps);
    const made = livePage
      ? { lost: false, confirmed, unsent, transaction: view!.state.tr }
      : rebased(view!.state, from.doc, steps, saver.withOwn(found.document.nodes));
    const theirs = fieldsOf(found);
    const next = { ...theirs };
    let clashes = made.lost;
    for (const name of ["title", "description"] as const) {
      if (fields[name] === from.fields[name]) continue;
      next[name] = fields[name];
      clashes ||= theirs[name] !== from.fields[name] && theirs[name] !== fields[name];
    }
    if (clashes) return false;
    saver.moved(found, blocksOf(made.confirmed), theirs, next);
    if (made.transaction.docChanged) {
      const changed = !view!.state.doc.eq(made.transaction.doc);
      view!.dispatch(made.transaction);
      if (changed) {
        sayUntil = performance.now() + SAID;
        tell(state);
      }
    }
    confirmed = made.confirmed;
    unsent = made.unsent;
    if (!same(next, fields)) showFields(fields = next);
    return true;
  }

  const saver: Saver = new Saver({
    revision: loaded.revision,
    blocks: livePage ? [] : blocksOf(sent ? readDocument(loaded.document) : confirmed),
    fields: fieldsOf(loaded),
    began() {
      sentSteps = unsent.length;
      sentDoc = view!.state.doc;
    },
    send,
    ...(sent
      ? {
        sent: {
          save: { ...sent, refuse: false },
          blocks: blocksOf(confirmed),
          fields: { ...fieldsOf(loaded), ...sent.fields },
        },
      }
      : {}),
    current: async () => (await ask(changeNow()).catch(() => undefined))?.revision,
    fresh: look,
    keep(kept) {
      record.own = kept;
      return keepRecord();
    },
    drop() {
      record.own = undefined;
      return keepRecord();
    },
    onstate: tell,
    onproblem,
    onsaved() {
      confirmed = sentDoc ?? confirmed;
      unsent = unsent.slice(sentSteps);
    },
    take: (found, sent) =>
      takeIn(
        found,
        sent
          ? { doc: sentDoc ?? confirmed, steps: sentSteps, fields: sent }
          : { doc: confirmed, steps: 0, fields: saver.savedFields },
      ),
    onrefused(keys, message) {
      const before = view && refusedKey.getState(view.state);
      if (view && (keys.size || before?.keys.size)) {
        view.dispatch(view.state.tr.setMeta(refusedKey, { keys, message: message || before?.message }));
      }
    },
  }, prepare);

  /** The text with a key at each block of the page, so that what is new can be named when it is saved. */
  function prepare(): Node {
    // What is written live is sent as it is written: here are the fields alone.
    if (livePage) return confirmed.copy(Fragment.empty);
    const transaction = view!.state.tr;
    const known = new Map(saver.saved.map((block) => [block.key, block]));
    view!.state.doc.forEach((node, at) => {
      if (!isWritten(node) || node.attrs.key && same(known.get(node.attrs.key), writeBlock(node))) return;
      transaction.doc.nodesBetween(at, at + node.nodeSize, (inner, place) => {
        if (!inner.isBlock) return false;
        const says = isWritten(inner) && !(inner.attrs.absent && inner.textContent === "");
        if (says && inner.attrs.key === null) transaction.setNodeAttribute(place, "key", newKey());
        return !inner.isTextblock;
      });
    });
    if (transaction.docChanged) {
      // What is to be typed next keeps its marks.
      transaction.setStoredMarks(view!.state.storedMarks);
      // And what typing just did can still be taken back.
      const rules = view!.state.plugins.find((plugin) =>
        (plugin.spec as { isInputRules?: boolean }).isInputRules
      );
      if (rules) transaction.setMeta(rules, rules.getState(view!.state));
      view!.dispatch(transaction.setMeta("addToHistory", false).setMeta("keys", true));
    }
    return view!.state.doc;
  }

  let pulling: Promise<void> | undefined;

  /** Asks for what is there now, and brings it into the text. */
  function pull(): Promise<void> {
    pulling ??= bring().catch(() => {}).finally(() => (pulling = undefined));
    return pulling;
  }

  async function bring(): Promise<void> {
    let found: LoadedPage;
    let at: string;
    do {
      await saver.posting;
      at = saver.revision;
      found = await subject.load({ kind: "change", number: change });
      if (stopped || !view || saver.unsure) return;
      // What was sent meanwhile may be in it already, and would be there twice.
    } while (saver.posting !== undefined || saver.revision !== at);
    if (found.revision === at) return;
    if (view.composing) {
      setTimeout(() => void pull(), 1000);
      return;
    }
    saver.bring(found);
  }

  let looked = performance.now();

  async function look(): Promise<void> {
    if (stopped || document.visibilityState === "hidden" || !navigator.onLine) return;
    looked = performance.now();
    const found = await ask(changeNow()).catch(() => undefined);
    if (found && found.revision !== saver.revision && !stopped) await pull();
  }

  function changeNow() {
    return api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}", {
      params: { path },
      signal: AbortSignal.timeout(ANSWER),
    });
  }

  /** What further tabs left, and what was written in another change request, comes in beside it, word by word. What touches the same words waits for another time, when
   * the server is asked what to do. */
  async function takeRest(): Promise<void> {
    for (const each of left) {
      if (each.live && livePage) {
        await livePage.adopt(each.live);
        taken.push(each);
        await keepRecord();
        continue;
      }
      const base = await baseOf(each);
      if (stopped || !view) return;
      const was = EditorState.create({ doc: readDocument(base.document) });
      const edit = was.tr;
      replaceTop(edit, withRemote(was.doc, withChanges(base.document, each)));
      const steps = unsentOf(edit);
      const made = rebased(was.apply(edit), was.doc, steps, blocksOf(view.state.doc));
      const written = saver.savedFields;
      const clashes = (["title", "description"] as const).some((name) =>
        each.fields[name] !== undefined && fields[name] !== written[name] &&
        fields[name] !== each.fields[name]
      );
      if (clashes || made.lost) continue;
      const transaction = view.state.tr;
      replaceTop(transaction, childrenOf(made.transaction.doc));
      taken.push(each);
      view.dispatch(transaction);
      if (Object.keys(each.fields).length) showFields(fields = { ...fields, ...each.fields });
      saver.changed(fields);
    }
  }

  const findPages: FindPages = async (typed) => {
    if (!typed.trim()) return [];
    const found = await ask(
      api.GET("/spaces/{spaceId}/search", {
        params: { path: { spaceId: space }, query: { query: typed, limit: 8 } },
      }),
    );
    return found.items.map((each) => ({
      title: each.title,
      line: each.ancestors.map((one) => one.title).join(" / "),
      ref: { kind: "page", page: each.id },
    }));
  };

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

  const upload: Upload = async (file) => {
    const name = file.name || `picture.${file.type.split("/")[1]?.replace("+xml", "") ?? "bin"}`;
    const answer = await changeContent(space, base, {
      baseRevision: null,
      changes: [{ operation: "insert_files", files: [await readBytes(space, file, name)] }],
    });
    const made = answer.insertedFiles?.[0];
    if (made === undefined) throw new ApiError(502, t("serverDidntReturnFileLocation"));
    return { file: made.id };
  };

  const sendFiles = (target: EditorView, files: File[], at: number): void =>
    takeFiles(target, files, at, upload, onproblem);

  const controller = new AbortController();
  const { signal } = controller;
  const timer = setInterval(() => {
    if (!live.connected || performance.now() - looked > LOOK_TOO) void look();
  }, LOOK);
  const again = (): void => {
    saver.again();
    livePage?.again();
  };
  const flush = async (): Promise<void> => {
    await saver.flush();
    await livePage?.flush();
  };
  const keptAt = (): "server" | "browser" | "nowhere" => {
    const places = [saver.kept, livePage?.kept ?? "server"];
    return (["nowhere", "browser", "server"] as const).find((each) => places.includes(each))!;
  };
  const waitNoMore = onSignedIn(again);
  const deafen = live.hear((news) => {
    if (news.kind === "ready" || news.kind === "reset") void look();
    if (news.kind !== "revision" || news.changeRequestId === undefined) return;
    if (news.changeRequestId !== loaded.change) return;
    if (subject.kind === "page" && news.pageIds && !news.pageIds.includes(page)) return;
    somebody = news.user?.id === session.user.value?.id
      ? words.yourself
      : news.user?.displayName ?? words.somebody;
    if (news.revisionId !== saver.revision) {
      // A save of what is written live brings nothing new.
      setTimeout(() => savedAs.has(news.revisionId!) || void pull(), livePage ? SAVING : 0);
    } else if (state.kind === "saved") tell(state);
  });
  addEventListener("online", again, { signal });
  addEventListener("offline", () => {
    if (saver.dirty) tell({ kind: "offline" });
    livePage?.offline();
  }, { signal });
  addEventListener("focus", () => {
    again();
    void look();
  }, { signal });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") void flush().catch(() => {});
  }, { signal });
  addEventListener("beforeunload", (event) => {
    void flush().catch(() => {});
    if (keptAt() === "nowhere") event.preventDefault();
  }, { signal });
  /** Who is followed, until something is done here. */
  let followed: string | undefined;
  const letGo = (): void => {
    followed = undefined;
  };
  for (const event of ["keydown", "pointerdown", "wheel"]) {
    addEventListener(event, letGo, { signal, passive: true });
  }

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
    doc,
    ...fields,
    plugins: [
      completing(
        triggers({
          pages: findPages,
          people,
          shared: () => options.lookup.shared(),
          askFor: (target, what) => askForFile(target, what, (files, at) => sendFiles(target, files, at)),
        }),
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
      }),
      ...(subject.kind === "page" ? [beginnings(kept)] : []),
      uploads(),
      finding(),
      noting(noteWords),
      ...(livePage ? [uniqueKeys(), carets(() => livePage.moved())] : [refusals()]),
      toolbar(tools),
      // Within a page its own handle stands in the gutter.
      ...(subject.kind === "page"
        ? [
          blockHandle({
            ...tools,
            reuse: (target) =>
              makeReusable(target, space, change, () => options.lookup.forget()).catch(onproblem),
          }),
        ]
        : []),
    ],
    handle: {
      flush,
      kept: keptAt,
      follow(user) {
        followed = user;
        return view !== undefined && showCaret(view, user);
      },
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
      findWith(view, findPages);
      sendWith(view, upload);
      tell({ kind: "saved" });
      if (livePage && opened) {
        livePage.attach(view);
        for (const { client, user, anchor, head } of opened.carets) {
          if (anchor !== null && head !== null) tellCarets(view, { caret: { client, user, anchor, head } });
        }
        if (draft && Object.keys(draft.fields).length) saver.changed(fields);
      } else if (draft !== undefined) {
        const transaction = view.state.tr.setMeta("addToHistory", false);
        replaceTop(transaction, withRemote(doc, withChanges(loaded.document, draft)));
        view.dispatch(transaction);
        saver.changed(fields);
      }
      takeRest().catch(() => {});
    },
    changed(transaction) {
      if (livePage) return livePage.changed(transaction);
      if (transaction.getMeta("remote")) return;
      unsent.push(...unsentOf(transaction));
      if (!transaction.getMeta("keys")) saver.changed();
    },
    changedFields(next) {
      fields = next;
      saver.changed(next);
    },
    stop() {
      stopped = true;
      deafen();
      waitNoMore();
      clearTimeout(saying);
      clearInterval(timer);
      controller.abort();
      void Promise.all([saver.stop(), livePage?.stop()]).finally(end);
    },
  };
}

/** One text in both forms, as the server reads and writes files. */
async function convert(
  space: string,
  body: Schemas["ConvertText"],
): Promise<{ markdown: string; document: DocumentJson }> {
  const found = await ask(
    api.POST("/spaces/{spaceId}/content/convert", { params: { path: { spaceId: space } }, body }),
  );
  return found as unknown as { markdown: string; document: DocumentJson };
}

/** Markdown as blocks of a page. */
async function readMarkdown(space: string, text: string): Promise<Node[]> {
  const { document } = await convert(space, { markdown: text });
  return document.nodes.map(asNew);
}
