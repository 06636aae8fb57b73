/** Lists that open while typing: `/` for blocks and pages, `:` for emoji, `@` for people and pages. */
import { NodeSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { language, t } from "../../shared/words.ts";
import { emojiCode, isPlayed } from "../document/richdrawing.ts";
import { uid } from "../document/building.ts";
import { schema } from "../document/schema.ts";
import { insertBlock, insertEmbed, reusableBlock } from "./blocks.ts";
import { type Choice, closeCompletion, type Trigger } from "./completing.ts";
import { h } from "./dom.ts";
import { findEmoji, loadEmoji } from "./emoji.ts";
import { drawIcon } from "./icons.ts";
import { findInserts, type Insert } from "./inserts.ts";
import { type Finders, type FindPages, type Found, newPage, newTarget, openTargets } from "./linking.ts";
import type { Preview } from "./referenced.ts";
import { loadSettings, openSettings } from "./opening.ts";
import type { Shared } from "./sharing.ts";
import { keyName } from "./toolbar.ts";
import { words } from "./words.ts";

/** Ask for the source of an image, file, or embed, and insert it at the caret. */
export type AskFor = (view: EditorView, what: "image" | "file" | "link") => void;

export interface People {
  id: string;
  name: string;
}

export interface Sources {
  pages: FindPages;
  files: Finders["files"];
  create: Finders["create"];
  onproblem: (problem: Error) => void;
  people: (words: string) => Promise<People[]>;
  askFor: AskFor;
  /** Return the data that the pages of the space share. */
  shared: () => Promise<Shared>;
  /** Return the title of a page on another server. */
  preview: (url: string) => Promise<Preview | undefined>;
}

function hint(take: string): (typed: string) => HTMLElement {
  return (typed) =>
    h(
      "div",
      { class: "completion-hint", "aria-hidden": "true" },
      h("span", {}, h("kbd", {}, "↑"), h("kbd", {}, "↓"), words.choose),
      h("span", {}, h("kbd", {}, "Enter"), take),
      h("span", {}, h("kbd", {}, "Esc"), `${words.keep} “/${typed}”`),
    );
}

function insertion(
  insert: Insert,
  askFor: AskFor,
  askForPage: (view: EditorView) => void,
  typed: string,
): Choice {
  return {
    title: insert.title,
    line: insert.line,
    group: typed ? words.blocksGroup : insert.group,
    typed: insert.typed,
    sign: h("span", { class: "completion-sign" }, drawIcon(insert.icon)),
    take(view, from, to) {
      view.dispatch(view.state.tr.delete(from, to));
      if (insert.ask === "page") return askForPage(view);
      if (!insert.make) return askFor(view, insert.ask!);
      view.dispatch(insertBlock(view.state, insert.make()));
      const { selection } = view.state;
      if (!(selection instanceof NodeSelection)) return;
      // A block without text, such as a formula, is written in its settings.
      void openSettings(view, selection.from, view.nodeDOM(selection.from) as HTMLElement);
    },
  };
}

function targetLink(found: Found): Choice {
  return {
    title: found.title,
    line: found.line,
    group: found.group,
    sign: h(
      "span",
      { class: found.within ? "completion-sign bare within" : "completion-sign bare" },
      drawIcon(found.icon ?? "link"),
    ),
    take(view, from, to) {
      const mark = schema.marks.link!.create({ uid: uid(), data: { ref: found.ref } });
      const transaction = view.state.tr.replaceWith(from, to, [
        schema.text(found.title, [mark]),
        schema.text(" "),
      ]);
      view.dispatch(transaction.removeStoredMark(mark).scrollIntoView());
    },
  };
}

function reusable({ id, title }: { id: string; title: string }): Choice {
  return {
    title,
    line: words.blocks.reusable_content,
    group: words.reusables,
    sign: h("span", { class: "completion-sign" }, drawIcon("recycle")),
    take(view, from, to) {
      view.dispatch(view.state.tr.delete(from, to));
      view.dispatch(insertBlock(view.state, reusableBlock(id)));
    },
  };
}

/** Return the choice that replaces text typed after two braces. */
function expression(title: string, line?: string): Choice {
  return {
    title,
    line,
    group: words.variables,
    sign: h("span", { class: "completion-sign bare" }, drawIcon("code")),
    take(view, from, to) {
      const end = view.state.doc.textBetween(to, Math.min(to + 2, view.state.doc.resolve(to).end())) === "}}"
        ? to + 2
        : to;
      const node = schema.nodes.expression!.create({ data: { expression: title } });
      view.dispatch(view.state.tr.replaceWith(from, end, node).scrollIntoView());
    },
  };
}

/** Return the choices for a URL that was pasted alone. */
function pasteAs(url: string, preview?: Preview | null): Choice[] {
  const played = isPlayed(url);
  const sign = (name: string) => h("span", { class: "completion-sign" }, drawIcon(name));
  const missing = preview === undefined ? words.loading : words.noPreview;
  const link = (view: EditorView, from: number, to: number): void => {
    const mark = schema.marks.link!.create({ uid: uid(), data: { ref: { kind: "url", url } } });
    if (!view.state.doc.rangeHasMark(from, to, mark.type)) {
      view.dispatch(view.state.tr.addMark(from, to, mark).removeStoredMark(mark));
    }
    closeCompletion(view);
  };
  const block = (view: EditorView, from: number, to: number): void => {
    view.dispatch(view.state.tr.delete(from, to));
    view.dispatch(insertEmbed(view.state, url));
  };
  return [
    {
      title: words.link,
      line: preview?.title ?? url,
      typed: "1",
      sign: sign("link"),
      first: !played,
      take: link,
    },
    played
      ? {
        title: words.asks.link!,
        line: words.playsOnPage,
        typed: "2",
        sign: sign("film"),
        first: true,
        take: block,
      }
      : {
        title: words.card,
        line: preview ? preview.site : missing,
        typed: "2",
        sign: sign("image"),
        off: !preview,
        take: block,
      },
    {
      title: words.mention,
      line: preview ? words.titleInSentence : missing,
      typed: "3",
      sign: sign("at"),
      off: !preview,
      take(view, from, to) {
        const mark = schema.marks.link!.create({ uid: uid(), data: { ref: { kind: "url", url } } });
        const text = schema.text(preview!.title, [mark]);
        view.dispatch(view.state.tr.replaceWith(from, to, [text, schema.text(" ")]).removeStoredMark(mark));
      },
    },
  ];
}

/** Return the dates that a typed word means: today, tomorrow, and yesterday, in the interface language. */
function dates(wanted: string): Choice[] {
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const long = new Intl.DateTimeFormat(language, { dateStyle: "long" });
  return [0, 1, -1].flatMap((days): Choice[] => {
    const title = relative.format(days, "day");
    if (wanted.length < 2 || !title.toLowerCase().startsWith(wanted)) return [];
    const date = new Date();
    date.setDate(date.getDate() + days);
    const line = long.format(date);
    return [{
      title,
      line,
      group: t("date"),
      sign: h("span", { class: "completion-sign bare" }, drawIcon("calendar")),
      take: (view, from, to) =>
        view.dispatch(view.state.tr.insertText(`${line} `, from, to).scrollIntoView()),
    }];
  });
}

/** The name of the option that creates a page, in English and in the interface language. */
const PAGE = `(?:page|${t("page")})`;

export function triggers(
  { pages, files, create, onproblem, people, askFor, shared, preview }: Sources,
): Trigger[] {
  /** Create a page, and put a mention of it in place of what was typed. */
  const created = (each: Found): Choice => ({
    ...targetLink(each),
    take(view, from, to) {
      const before = view.state.doc.textBetween(from, to);
      each.create!.run().then((ref) => {
        // The person may have written on in the meantime.
        if (to > view.state.doc.content.size || view.state.doc.textBetween(from, to) !== before) return;
        const node = schema.nodes.mention!.create({ data: { ref, label: each.create!.title } });
        view.dispatch(view.state.tr.replaceWith(from, to, [node, schema.text(" ")]).scrollIntoView());
      }, onproblem);
      closeCompletion(view);
    },
  });
  /** Ask for the title of a new subpage, and mention it at the caret. */
  const askForPage = (view: EditorView): void =>
    openTargets(view, view.coordsAtPos(view.state.selection.head), {
      title: t("newSubpage"),
      label: t("pageTitle"),
      value: "",
      find: (typed) => Promise.resolve(newPage(typed, create)),
      take(found) {
        view.focus();
        found.create!.run().then((ref) => {
          if (view.isDestroyed) return;
          // While the page was created, the caret moved along with changes of other people.
          const { head } = view.state.selection;
          const node = schema.nodes.mention!.create({ data: { ref, label: found.create!.title } });
          view.dispatch(view.state.tr.insert(head, [node, schema.text(" ")]).scrollIntoView());
        }, onproblem);
      },
    });
  /** Return the choice for `/page Title`. */
  const namedPage = (typed: string): Choice[] => {
    const title = new RegExp(`^${PAGE}\\s+(.*)`, "i").exec(typed)?.[1] ?? "";
    return newPage(title, create).map(created);
  };
  /** `creates`: whether a page with the typed title can be created. Text after `@` is often no mention at all. */
  const mentions = (creates: boolean): Omit<Trigger, "pattern"> => ({
    label: words.mention,
    hint: () => null,
    find: () => [],
    async more(typed) {
      const wanted = typed.trim().toLowerCase();
      const [who, where, kept, common] = await Promise.all([
        people(typed).catch(() => []),
        typed ? pages(typed).catch(() => []) : [],
        typed ? files(typed).catch(() => []) : [],
        typed ? shared().then((each) => Object.entries(each.variables)).catch(() => []) : [],
      ]);
      const mention = (view: EditorView, from: number, to: number, data: Record<string, unknown>): void => {
        const node = schema.nodes.mention!.create({ data });
        view.dispatch(view.state.tr.replaceWith(from, to, [node, schema.text(" ")]).scrollIntoView());
      };
      const made = creates ? newTarget(typed, where, create).map(created) : [];
      // The search also finds pages with similar words, which are less likely meant than a new page.
      const fits = where.some(({ title }) => title.toLowerCase().includes(wanted));
      return [
        ...(fits ? [] : made),
        ...who.slice(0, 6).map((each): Choice => ({
          title: each.name,
          group: words.people,
          sign: h("span", { class: "completion-sign bare" }, drawIcon("user")),
          take: (view, from, to) =>
            mention(view, from, to, { ref: { kind: "user", user: each.id }, label: each.name }),
        })),
        ...[...where.slice(0, 8), ...kept.slice(0, 4)].map((each): Choice => ({
          ...targetLink(each),
          // Files have no title in text, and headings only have their text, so both become links.
          ...(each.ref?.kind === "page"
            ? { take: (view, from, to) => mention(view, from, to, { ref: each.ref, label: each.title }) }
            : {}),
        })),
        ...(fits ? made : []),
        ...dates(wanted),
        ...common.filter(([name]) => name.toLowerCase().includes(wanted)).slice(0, 4).map(([name, value]) =>
          expression(`space.vars.${name}`, value)
        ),
      ];
    },
  });
  return [
    {
      pattern: /^(https?:\/\/[^\s\ufffc]+)$/,
      label: words.pasteAs,
      sign: 0,
      numbered: true,
      opensTyped: isPlayed,
      hint: () =>
        h(
          "div",
          { class: "completion-hint", "aria-hidden": "true" },
          h("span", {}, h("kbd", {}, "↑"), h("kbd", {}, "↓"), words.choose),
          h("span", {}, h("kbd", {}, "Esc"), words.keepUrl),
        ),
      find: (url) => pasteAs(url),
      more: async (url) => pasteAs(url, await preview(url).catch(() => undefined) ?? null),
    },
    {
      pattern: new RegExp(
        String.raw`(?:^|\s)\/((?:${PAGE}\s[^/]{0,80}|[^\s/][^/]{0,30})?)$`,
        "i",
      ),
      label: words.insert,
      hint: hint(words.insertIt),
      find: (typed) => {
        // What is typed right after a formula is inserted belongs in its settings.
        loadSettings().catch(() => {});
        return [
          ...namedPage(typed),
          ...findInserts(typed).map((insert) => insertion(insert, askFor, askForPage, typed)),
        ];
      },
      async more(typed) {
        if (typed.length < 2 || namedPage(typed).length) return [];
        const wanted = typed.trim().toLowerCase();
        const all = "reusable content include".includes(wanted);
        const [contents, found] = await Promise.all([
          shared().then((each) => each.contents).catch(() => []),
          pages(typed).catch(() => []),
        ]);
        return [
          ...contents.filter((each) => all || each.title.toLowerCase().includes(wanted)).slice(0, 6).map(
            reusable,
          ),
          ...found.slice(0, 4).map(targetLink),
        ];
      },
    },
    {
      pattern: /\{\{\s*([^{}]{0,60})$/,
      label: words.variables,
      sign: 2,
      hint: () => null,
      find: () => [],
      async more(typed) {
        const wanted = typed.trim().toLowerCase();
        const { variables } = await shared();
        const known = Object.entries(variables)
          .filter(([name]) => `space.vars.${name}`.toLowerCase().includes(wanted))
          .map(([name, value]) => expression(`space.vars.${name}`, value));
        const own = typed.trim();
        return known.some((each) => each.title === own) || !own ? known : [...known, expression(own)];
      },
    },
    {
      pattern: /(?:^|[\s(]):([a-z0-9_+-]{1,30})$/,
      label: words.emoji,
      least: 2,
      hint: () => null,
      find: () => [],
      async more(typed) {
        await loadEmoji();
        return findEmoji(typed, 8).map(({ sign, name }) => ({
          title: name.replaceAll("_", " "),
          sign: h("span", { class: "completion-sign bare" }, sign),
          take: (view, from, to) =>
            view.dispatch(
              view.state.tr.replaceWith(
                from,
                to,
                schema.nodes.emoji!.create({ data: { code: emojiCode(sign) } }),
              ).scrollIntoView(),
            ),
        }));
      },
    },
    { ...mentions(false), pattern: /(?:^|[\s(])@((?:[^\s@][^@]{0,30})?)$/ },
    { ...mentions(true), pattern: /\[\[([^[\]]{1,30})$/, sign: 2 },
  ];
}

export { keyName };
