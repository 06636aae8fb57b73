/** The drafts in which a page can be edited. */
import { since } from "../../shared/dates.ts";
import { n, t } from "../../shared/words.ts";
import { EDITED_MAIN } from "../addresses.ts";
import type { Base } from "../editor/base.ts";
import { changesOfPage, findDraft, subjectFor } from "../state/drafts.ts";
import { presence } from "../state/live.svelte.ts";
import type { Page } from "../state/page.svelte.ts";
import { session } from "../state/session.svelte.ts";
import type { MenuEntry } from "./Menu.svelte";

interface Choices {
  space: string;
  page: Page;
  /** Whether the person can edit main without a review. */
  direct: boolean;
  choose: (base: () => Promise<Base> | Base) => Promise<void>;
  startNew: () => Promise<void>;
}

/** The choices: own drafts of this page first. There are several if a change request edits the page. */
export async function findChoices({ space, page, direct, choose, startNew }: Choices): Promise<MenuEntry[]> {
  const [here, newest] = await Promise.all([changesOfPage(space, page.id).refresh(), findDraft(space)]);
  const own = session.user.value?.id;
  const isOwn = (one: { createdBy: { id: string } }) => one.createdBy.id === own;
  const go = (number: number) => () => choose(() => ({ kind: "change", number }));
  const mine = here.filter(isOwn);
  const found: MenuEntry[] = mine.map((one) => ({
    text: t("continueNumber", { number: one.number, subject: one.subject || t("noSubject") }),
    note: [
      one.status === "open" ? t("yourEditsResetApprovals") : t("yourDraft"),
      n("pageCount", one.pages),
      t("savedWhen", { when: since(one.updatedAt) }),
    ].join(" · "),
    icon: "edit",
    run: go(one.number),
  }));
  if (newest && !mine.some(({ id }) => id === newest.id)) {
    found.push({
      text: t("addToNumber", { number: newest.number, subject: newest.subject || t("noSubject") }),
      note: t("doesntEditThisPageYet"),
      icon: "edit",
      run: go(newest.number),
    });
  }
  for (const one of here.filter((other) => !isOwn(other))) {
    const writer = presence.inChanges(page.id).find(({ change }) => change === one.id)?.user;
    found.push({
      text: t("joinNameInNumber", { name: (writer ?? one.createdBy).displayName, number: one.number }),
      note: [
        one.subject || t("noSubject"),
        ...(one.status === "open" ? [t("yourEditsResetApprovals")] : []),
        writer ? t("editingThisPageNow") : t("savedWhen", { when: since(one.updatedAt) }),
      ].join(" · "),
      person: writer ?? one.createdBy,
      live: writer !== undefined,
      run: go(one.number),
    });
  }
  if (!here.length) return [];
  const first = found[0];
  if (first && typeof first === "object" && "text" in first) first.keys = "e";
  return [
    {
      heading: t("editTitleIn", { title: page.title }),
      aside: here.length ? n("changeRequestsEditThisPage", here.length) : "",
    },
    ...found,
    {
      text: t("startNewChangeRequest"),
      note: t("namedUntilRenamed", {
        name: await subjectFor(space, [page.id], t("editTitle", { title: page.title })),
      }),
      icon: "plus",
      keys: found.length ? "n" : "e",
      run: startNew,
    },
    ...(direct
      ? [
        "line" as const,
        {
          text: t("editDirectly"),
          note: t("publishedAsYouType"),
          icon: "bolt" as const,
          keys: "shift+e",
          run: () => choose(() => EDITED_MAIN),
        },
      ]
      : []),
  ];
}
