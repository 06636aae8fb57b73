/** Edits reusable content on a page that uses it. As on a page, edits are stored locally at once and saved after a
 * pause. */
import type { EditorView } from "prosemirror-view";
import { api, ask, askAll } from "../../shared/client.ts";
import { n, t } from "../../shared/words.ts";
import { address } from "../addresses.ts";
import type { Changes } from "../state/changing.ts";
import { type Location, placeOf } from "../state/contents.svelte.ts";
import { h } from "./dom.ts";
import { readReusable } from "./sharing.ts";
import { saysState } from "./states.ts";
import type { InPlace, InPlaceOptions, MountOptions } from "./surroundings.ts";
import { startWriting, type Subject } from "./writing.ts";
import { words } from "./words.ts";

/** The number of uses listed; the screen of the reusable content lists all. */
const NAMED = 5;

function subjectOf(space: string, id: string): Subject {
  return {
    async load(base) {
      const path = { spaceId: space };
      let revision: string;
      let change: string | undefined;
      if (base.kind === "change") {
        const found = await ask(api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}", {
          params: { path: { ...path, changeRequestId: String(base.number) } },
        }));
        [revision, change] = [found.revision, found.id];
      } else revision = base.kind === "revision" ? base.id : "";
      const document = await readReusable(space, revision, id);
      return { page: { id, title: "" }, document, revision, ...(change ? { change } : {}) };
    },
    changes: (blocks) =>
      [{
        operation: "update_reusable_content",
        reusableContent: id,
        document: { document: blocks },
      }] as unknown as Changes,
  };
}

/** Return text with links to the other uses of the content. */
async function saysWhere(
  { around: { lookup }, change, id }: InPlaceOptions,
): Promise<(string | HTMLElement)[]> {
  const { space } = lookup;
  const base = { kind: "change", number: change } as const;
  const path = { spaceId: space, changeRequestId: String(change), reusableContentId: id };
  const found = await askAll((query) =>
    ask(api.GET(
      "/spaces/{spaceId}/change-requests/{changeRequestId}/content/reusable-contents/{reusableContentId}/backlinks",
      { params: { path, query } },
    ))
  );
  const isHere = (place: Location) =>
    place.kind === "page" && (place as unknown as { page: { id: string } }).page.id === lookup.page;
  const others = found.items.filter((place) => !isHere(place)).flatMap((place) =>
    placeOf(place, space, base) ?? []
  );
  const places = [...new Map(others.map((each) => [each.href, each])).values()];
  if (!places.length) return [t("itsUsedOnly")];
  const said: (string | HTMLElement)[] = [
    n("changesHereAlsoAffectOther", places.length),
  ];
  for (const { title, href } of places.slice(0, NAMED)) {
    said.push(" ", h("a", { href, class: "link" }, title));
  }
  if (places.length > NAMED) {
    said.push(" ", h("a", { href: address.space(space, `reusable/${id}`), class: "link" }, t("viewAll")));
  }
  return said;
}

export async function writeInPlace(
  options: InPlaceOptions,
  mount: (place: HTMLElement, options: MountOptions) => EditorView,
): Promise<InPlace> {
  const { around, change, id, ondone } = options;
  const { lookup } = around;
  const subject = subjectOf(lookup.space, id);
  const title = (await lookup.shared()).contents.find((one) => one.id === id)?.title ?? "";
  const where = h("p", { class: "reusable-where" });
  const state = h("span", { class: "reusable-state", "aria-live": "polite" });
  const problem = h("p", { class: "reusable-problem", role: "alert" });
  const done = h(
    "button",
    { type: "button", class: "button secondary small", onclick: () => void close() },
    words.done,
  );
  const place = h("div");
  const dom = h(
    "div",
    { class: "reusable-writing", role: "group", "aria-label": title },
    where,
    place,
    problem,
    h("div", { class: "reusable-row" }, done, state),
  );
  saysWhere(options).then((said) => where.append(...said), () => {});
  const loaded = await subject.load({ kind: "change", number: change });
  const writing = await startWriting({
    space: lookup.space,
    change,
    subject,
    loaded,
    lookup,
    onstate(now) {
      state.textContent = saysState(now);
      if (now.kind === "saved") problem.textContent = "";
    },
    onproblem: (error) => (problem.textContent = error.message),
  });
  const view: EditorView = mount(place, {
    doc: writing.doc,
    lookup,
    plugins: writing.plugins,
    label: title,
    onchange: (_, transaction) => writing.changed(transaction),
  });
  writing.attach(view, () => {});
  const destroy = (): void => {
    writing.stop();
    view.destroy();
  };
  /** Close the editor. Content that couldn't be saved stays open and shows the reason. */
  async function close(): Promise<void> {
    done.setAttribute("aria-busy", "true");
    await writing.handle.flush().catch(() => {});
    done.removeAttribute("aria-busy");
    if (writing.handle.kept() === "server") ondone();
  }
  return { dom, focus: () => view.focus(), destroy };
}
