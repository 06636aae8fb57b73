/** The `@` list of text fields for comments: people, who are notified, and pages, which are linked. */
import type { Attachment } from "svelte/attachments";
import { t } from "../../shared/words.ts";
import { address } from "../addresses.ts";
import { peopleOf } from "../api/members.ts";
import { searchChangeRequestContent, searchSpaceContent } from "../api/search.ts";
import type { Base } from "../editor/base.ts";
import { h, place, set } from "../editor/dom.ts";
import { session } from "../state/session.svelte.ts";

const MOST = 6;
/** The text between `@` and the caret: part of a name or title. */
const TYPED = /(?:^|[\s([{])@([^@\n]{0,40})$/;

interface Entry {
  text: string;
  line: string;
  group: string;
  markdown: string;
}
export type MentionField = HTMLTextAreaElement | HTMLInputElement;

const escaped = (text: string) => text.replace(/[[\]\\]/g, "\\$&");

export const personMarkdown = (id: string, name: string) => `[@${escaped(name)}](/users/${id} "mention") `;

async function findPeople(space: string, typed: string): Promise<Entry[]> {
  const found = await peopleOf(space).refresh();
  return found.items.map(({ user }) => user)
    .filter(({ id, displayName }) =>
      id !== session.user.value?.id && displayName.toLowerCase().includes(typed.toLowerCase())
    )
    .slice(0, MOST)
    .map(({ id, displayName }) => ({
      text: displayName,
      line: "",
      group: t("people"),
      markdown: personMarkdown(id, displayName),
    }));
}

/** Find pages of the change request, then those of main. */
async function findPages(space: string, base: Base, typed: string): Promise<Entry[]> {
  if (!typed.trim()) return [];
  const query = { query: typed, limit: MOST };
  const path = { spaceId: space };
  const [edited, main] = await Promise.all([
    base.kind === "change"
      ? searchChangeRequestContent({ ...path, changeRequestId: String(base.number) }, query)
      : { items: [] },
    searchSpaceContent(path, query),
  ]);
  const known = new Set(main.items.map(({ id }) => id));
  const entry = (page: (typeof main.items)[number], href: string): Entry => ({
    text: page.title,
    line: page.ancestors.map(({ title }) => title).join(" / "),
    group: t("pages"),
    markdown: `[${escaped(page.title)}](${location.origin}${href}) `,
  });
  return [
    ...edited.items.filter(({ id }) => !known.has(id)).map((one) =>
      entry(one, address.page(space, one.path, base))
    ),
    ...main.items.map((one) => entry(one, `/s/${space}?page=${one.id}`)),
  ].slice(0, MOST);
}

/** Open the list when `@` is typed in a field. Escape closes only the list. */
export function mentioning(space: string, base: Base): Attachment<MentionField> {
  return (field) => {
    let list: HTMLElement | undefined;
    let entries: Entry[] = [];
    let at = 0;
    let asked = 0;
    const id = `mentions-${crypto.randomUUID()}`;

    const close = () => {
      asked += 1;
      list?.remove();
      list = undefined;
      set(field, { "aria-activedescendant": null, "aria-controls": null });
    };
    const select = (index: number) => {
      at = (index + entries.length) % entries.length;
      for (const [number, option] of [...list!.querySelectorAll("[role=option]")].entries()) {
        option.setAttribute("aria-selected", String(number === at));
        if (number === at) option.scrollIntoView({ block: "nearest" });
      }
      field.setAttribute("aria-activedescendant", `${id}-${at}`);
    };
    const typed = () => TYPED.exec(field.value.slice(0, field.selectionStart ?? 0))?.[1];
    const take = (entry: Entry) => {
      const end = field.selectionStart ?? field.value.length;
      field.setRangeText(entry.markdown, end - (typed()?.length ?? 0) - 1, end, "end");
      close();
      field.dispatchEvent(new Event("input", { bubbles: true }));
      field.focus();
    };
    const show = () => {
      list?.remove();
      list = h("div", { class: "mentions", role: "listbox", id, "aria-label": t("mentionPersonOrPage") });
      let group: HTMLElement = list;
      for (const [number, entry] of entries.entries()) {
        if (entry.group !== entries[number - 1]?.group) {
          group = h(
            "div",
            { role: "group", "aria-label": entry.group },
            h("div", { class: "menu-heading", "aria-hidden": "true" }, entry.group),
          );
          list.append(group);
        }
        const option = h(
          "div",
          { role: "option", id: `${id}-${number}`, class: "mention-option" },
          h("span", { class: "cut" }, entry.text),
          entry.line ? h("small", { class: "cut muted" }, entry.line) : null,
        );
        option.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          take(entry);
        });
        group.append(option);
      }
      // Content outside of an open dialog is not visible.
      (field.closest("dialog") ?? document.body).append(list);
      place(list, field.getBoundingClientRect());
      set(field, { "aria-controls": id });
      select(0);
    };
    const look = async () => {
      const query = typed();
      if (query === undefined) return close();
      const number = ++asked;
      const none = (): Entry[] => [];
      const [people, pages] = await Promise.all([
        findPeople(space, query).catch(none),
        findPages(space, base, query).catch(none),
      ]);
      if (number !== asked || !field.isConnected) return;
      entries = [...people, ...pages];
      if (entries.length) show();
      else close();
    };
    const press = (event: Event) => {
      if (!list) return;
      const { key, ctrlKey, metaKey } = event as KeyboardEvent;
      if (key === "ArrowDown") select(at + 1);
      else if (key === "ArrowUp") select(at - 1);
      else if ((key === "Enter" || key === "Tab") && !ctrlKey && !metaKey) take(entries[at]!);
      else if (key === "Escape") close();
      else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    set(field, { "aria-autocomplete": "list" });
    field.addEventListener("input", look);
    // Run before the listeners of the field, which submit or close it.
    field.addEventListener("keydown", press, { capture: true });
    field.addEventListener("blur", close);
    return () => {
      close();
      field.removeEventListener("input", look);
      field.removeEventListener("keydown", press, { capture: true });
      field.removeEventListener("blur", close);
    };
  };
}
