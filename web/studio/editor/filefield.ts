/** A file field: the current file, and buttons to select a file of the space, to upload one, or to enter a URL. */
import type { EditorView } from "prosemirror-view";
import { t } from "../../shared/words.ts";
import type { Data, Ref } from "../document/types.ts";
import { sizeOf } from "../parts/sizes.ts";
import { h, set } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import { findFiles, lookupOf, openTargets } from "./linking.ts";
import { senderOf } from "./uploads.ts";
import { drawPicture } from "./pictures.ts";
import { words } from "./words.ts";

export interface FileField {
  label: string;
  value: Ref | undefined;
  /** Whether the field accepts only images, which are previewed. */
  image: boolean;
  /** Whether the file can be removed. */
  optional: boolean;
  change: (ref: Ref | undefined) => void;
}

/** Create the field. */
export function fileField(
  view: EditorView,
  { label, value, image, optional, change }: FileField,
): HTMLElement {
  const lookup = lookupOf(view);
  const send = senderOf(view);
  const name = h("span", { class: "file-card-name" }, value ? "…" : t("none"));
  const facts = h("small", { class: "file-card-facts" });
  const state = h("small", { class: "file-card-state", role: "status" });
  const shown = h("div", { class: "file-card-picture" });
  if (value && lookup) {
    if (image) shown.append(...drawPicture({ ref: value, alt: "" } as Data, lookup, "file-card-image"));
    else shown.append(drawIcon("file"));
    lookup.asset(value).then((asset) => {
      name.textContent = asset?.name ?? `${words.notFound} ${String(value.url ?? "")}`.trim();
      name.title = name.textContent;
      facts.textContent = [
        asset?.width && asset.height ? `${asset.width} × ${asset.height}` : "",
        asset?.size ? sizeOf(asset.size) : "",
      ].filter(Boolean).join(", ");
    }, () => (name.textContent = words.notFound));
  } else shown.append(drawIcon(image ? "image" : "file"));
  const take = (files: FileList | null | undefined): void => {
    const file = files?.[0];
    if (!file || !send) return;
    state.textContent = `${words.uploading} ${file.name}`;
    set(state, { "data-bad": null });
    send(file).then((sent) => change({ kind: "file", file: sent.file }), (problem: Error) => {
      // The field keeps the previous file.
      state.textContent = problem.message;
      set(state, { "data-bad": true });
    });
  };
  const choice = h("input", {
    type: "file",
    class: "hidden-text",
    accept: image ? "image/*" : null,
    "aria-label": `${label}: ${t("uploadFile")}`,
  });
  choice.addEventListener("change", () => take(choice.files));
  const library = h("button", {
    type: "button",
    class: "button secondary small",
    onclick: () =>
      openTargets(view, library, {
        title: t("filesOfThisSpace"),
        value: value?.kind === "url" ? String(value.url) : "",
        find: (typed) => findFiles(view, typed, image),
        take: ({ ref }) => ref && change(ref),
      }),
  }, value ? t("replace") : t("chooseFile"));
  const card = h(
    "div",
    { class: "file-card", role: "group", "aria-label": label },
    shown,
    h("div", { class: "file-card-text" }, h("strong", {}, label), name, facts, state),
    h(
      "div",
      { class: "file-card-row" },
      library,
      send ? h("label", { class: "button secondary small" }, t("upload"), choice) : null,
      optional && value
        ? h(
          "button",
          { type: "button", class: "button ghost small", onclick: () => change(undefined) },
          t("remove"),
        )
        : null,
    ),
  );
  card.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    set(card, { "data-over": true });
  });
  card.addEventListener("dragleave", () => set(card, { "data-over": null }));
  card.addEventListener("drop", (event) => {
    event.preventDefault();
    set(card, { "data-over": null });
    take(event.dataTransfer?.files);
  });
  return card;
}
