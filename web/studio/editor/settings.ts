/**
 * The settings of a block in a form, generated from the table of node types: every field of every type can be set.
 * A screen shows the form in its side panel (`opening.ts`) or, without one, next to the block.
 */
import type { Node } from "prosemirror-model";
import type { Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import "../parts/switch.css";
import made from "../../generated/node-fields.json" with { type: "json" };
import { t } from "../../shared/words.ts";
import { same } from "../document/comparing.ts";
import { documentType, schema } from "../document/schema.ts";
import type { Data, Json, Ref } from "../document/types.ts";
import { words } from "./words.ts";
import { h, place } from "./dom.ts";
import { fileField } from "./filefield.ts";
import { headless } from "./grid.ts";
import { languageName, LANGUAGES } from "./languages.ts";
import { lookupOf, openTargets, pagesFor } from "./linking.ts";
import { settingsHost } from "./settingshost.ts";
import { drawIcon } from "./icons.ts";
import { widthOf } from "./resizing.ts";
import { showHeader } from "./tablemenus.ts";
import { drawTable } from "./tablesettings.ts";
import { keyName } from "./toolbar.ts";

interface FieldType {
  kind: "text" | "bool" | "number" | "int" | "ref" | "length" | "texts" | "object";
  required?: boolean;
  choices?: string[];
  meta?: boolean;
}

/** The fields of each type, from `core/document/schema.py`. */
const FIELDS = made as Record<"blocks" | "inlines", Record<string, Record<string, FieldType>>>;

const LABELS: Record<string, string> = {
  align: t("alignment"),
  alt: t("altText"),
  title: t("title"),
  syntax: t("language"),
  overflow: t("longLines"),
  lineNumbers: t("lineNumbers"),
  fullWidth: t("fullWidth"),
  expandable: t("collapseLongCode"),
  collapsedLineCount: t("linesBeforeCollapsing"),
  ref: t("link"),
  width: t("width"),
  height: t("height"),
  withFrame: t("frame"),
  icon: t("icon"),
  style: t("style"),
  url: t("url"),
  label: t("label"),
  expression: t("condition"),
  formula: t("formulaTeX"),
  level: t("level"),
  start: t("firstNumber"),
  id: t("anchor"),
  kind: t("style"),
  action: t("action"),
  query: t("searchQueryOrQuestion"),
  color: t("color"),
  size: t("size"),
  slug: t("selectionName"),
  search: t("searchField"),
  caption: t("caption"),
  checked: t("done"),
  verticalAlignment: t("verticalAlignment"),
  path: t("path"),
  method: t("method"),
  body: t("text"),
  expanded: t("expandedByDefault"),
  grouped: t("groupOfPages"),
  schemas: t("schemas"),
  name: t("name"),
  date: t("date"),
  tags: t("tags"),
  description: t("description"),
  source: t("markdown"),
  code: t("emoji"),
  openInAIProviders: t("openIn"),
  defaultExpanded: t("expandedByDefault"),
  format: t("dateFormat"),
  highlighted: t("highlighted"),
  host: t("host"),
  summary: t("summary"),
  tag: t("tag"),
  in: t("location"),
  type: t("type"),
  required: t("required"),
  status: t("status"),
  integration: t("integration"),
  block: t("block"),
  end: t("markdownAtEnd"),
  open: t("expandedByDefault"),
};

/** The action of a button. Markdown may have any text, which does nothing. */
const ACTION: FieldType = { kind: "text", choices: ["ask", "search", "select"] };

/** Fields that are shown elsewhere, or that are objects. */
const HIDDEN = new Set([
  "attributes",
  "view",
  "records",
  "definition",
  "props",
  "checked",
  "start",
  "highlighted",
  "kind:unknown",
  "info",
  "headless",
]);

interface Open {
  view: EditorView;
  position: number;
  /** Render the form again with the current values. */
  draw: () => void;
  close: () => void;
}

let open: Open | undefined;

/** The number of milliseconds without typing before a field is set. */
const PAUSE = 400;
/** Function that sets the field whose typed text isn't set yet. */
let unsent: (() => void) | undefined;

/** Set a field after a pause in typing, and before anything else happens to the form. */
function whileTyped(input: HTMLInputElement | HTMLTextAreaElement, send: () => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = (): void => {
    clearTimeout(timer);
    if (unsent === now) unsent = undefined;
    send();
  };
  input.addEventListener("input", (event) => {
    clearTimeout(timer);
    unsent = now;
    if (!(event as InputEvent).isComposing) timer = setTimeout(now, PAUSE);
  });
  input.addEventListener("change", now);
}

/** Close the form if it belongs to this view. */
export function closeSettings(view = open?.view): void {
  if (open && open.view === view) open.close();
}

/** Keep the form next to its block, show other people's changes, and close the form when the block is deleted or the
 * writer goes on elsewhere. */
export function followSettings(view: EditorView, transaction: Transaction): void {
  if (open?.view !== view) return;
  const before = transaction.before.nodeAt(open.position);
  const { pos, deletedAfter } = transaction.mapping.mapResult(open.position, 1);
  const now = transaction.doc.nodeAt(pos);
  if (deletedAfter || now === null || now.type !== before?.type) {
    unsent = undefined;
    return closeSettings();
  }
  open.position = pos;
  const { from, to } = transaction.selection;
  if (transaction.selectionSet && view.hasFocus() && (to < pos || from > pos + now.nodeSize)) {
    return closeSettings();
  }
  // The settings of a table list its columns.
  if (now.attrs !== before.attrs || now.type === schema.nodes.table && now.firstChild !== before.firstChild) {
    open.draw();
  }
}

/** Show the form of the node at a position. Each change is a separate edit. */
export function showSettings(view: EditorView, position: number | undefined, beside: HTMLElement): void {
  closeSettings();
  if (position === undefined || !view.editable) return;
  const node = view.state.doc.nodeAt(position);
  const type = node === null ? undefined : documentType(node);
  if (node === null || type === undefined || !fieldsOf(type).length) return;
  const title = titleOf(type, node);
  const host = settingsHost();
  const form = h("div", {
    class: host ? "block-settings" : "menu block-settings",
    role: host ? null : "dialog",
    "aria-label": host ? null : title,
  });
  const draw = (): void => {
    unsent?.();
    const now = open && view.state.doc.nodeAt(open.position);
    if (!now) return;
    const focused = form.contains(document.activeElement)
      ? document.activeElement as HTMLInputElement
      : undefined;
    const name = focused?.dataset.field;
    const [start, end] = [focused?.selectionStart, focused?.selectionEnd];
    form.replaceChildren(...drawFields(view, type, now), ...drawKeys(type));
    const again = name && form.querySelector<HTMLInputElement>(`[data-field="${CSS.escape(name)}"]`);
    if (!again) return;
    again.focus();
    if (typeof start === "number" && typeof end === "number") again.setSelectionRange(start, end);
  };
  const stop = new AbortController();
  const close = (): void => {
    unsent?.();
    stop.abort();
    open = undefined;
    if (host) host(undefined);
    else form.remove();
  };
  open = { view, position, draw, close };
  draw();
  const leave = (): void => {
    close();
    view.focus();
  };
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    leave();
  });
  if (host) host({ title, element: form, close: leave });
  else {
    document.body.append(form);
    place(form, beside.getBoundingClientRect());
    document.addEventListener("mousedown", (event) => {
      const target = event.target as Element;
      if (!form.contains(target) && !target.closest(".menu")) close();
    }, { signal: stop.signal, capture: true });
  }
  // Wait until the screen has placed the form.
  setTimeout(() => {
    const first = form.querySelector<HTMLElement>("input:not(.hidden-text), select, textarea, button");
    first?.focus();
    if (first instanceof HTMLInputElement || first instanceof HTMLTextAreaElement) first.select();
  });
}

const TITLES: Record<string, string> = {
  code: t("code"),
  image: t("image"),
  images: t("image"),
  "inline-image": t("image"),
  file: t("file"),
  embed: t("embed"),
  hint: t("hint"),
  math: t("formula"),
  "inline-math": t("formula"),
  table: t("table"),
  "content-ref": t("pageLink"),
  button: t("button"),
  icon: t("icon"),
  mention: t("mention"),
  expression: t("expression"),
  "tabs-item": t("tab"),
  tabs: t("tabs"),
  "stepper-step": t("step"),
  column: t("column"),
  if: t("condition"),
  update: t("update"),
  "heading-1": t("heading1"),
  "heading-2": t("heading2"),
  "heading-3": t("heading3"),
  paragraph: t("paragraph"),
  "list-ordered": t("numberedList"),
  drawing: t("drawing"),
  "openapi-operation": t("apiOperation"),
  "openapi-schemas": t("apiSchemas"),
  swagger: t("apiOperation"),
  integration: t("integration"),
  prompt: t("prompt"),
};

function titleOf(type: string, node: Node): string {
  if (type === "code") {
    const language = languageName(String((node.attrs.data as Data).syntax ?? ""));
    return language ? `${t("code")}: ${language}` : t("code");
  }
  return TITLES[type] ?? t("block");
}

function fieldsOf(type: string): [string, FieldType][] {
  return Object.entries(FIELDS.blocks[type] ?? FIELDS.inlines[type] ?? {}).filter(([name]) =>
    !HIDDEN.has(name) && !HIDDEN.has(`${name}:${type}`)
  ).map(([name, field]) => [name, type === "button" && name === "action" ? ACTION : field]);
}

/** Change a field of the block, or of the block that contains it. */
function setField(view: EditorView, name: string, field: FieldType, value: unknown, outer = false): void {
  if (!open) return;
  const at = outer ? view.state.doc.resolve(open.position).before() : open.position;
  const now = view.state.doc.nodeAt(at)!;
  const where = field.meta ? "meta" : "data";
  if (same((now.attrs[where] as Data | null)?.[name] as Json | undefined, value as Json | undefined)) return;
  const fields = { ...(now.attrs[where] as Data | null), [name]: value } as Record<string, unknown>;
  const kept = Object.fromEntries(
    Object.entries(fields).filter(([, each]) => each !== undefined && each !== ""),
  );
  view.dispatch(view.state.tr.setNodeAttribute(at, where, kept));
  if (outer) open.draw();
}

function drawFields(view: EditorView, type: string, node: Node): HTMLElement[] {
  const found = fieldsOf(type).map(([name, field]) => {
    const source = (field.meta ? node.attrs.meta : node.attrs.data) as Data | null;
    const change = (value: unknown): void => setField(view, name, field, value);
    return drawField(view, type, name, field, source?.[name], change);
  });
  if (type === "table") {
    const { position } = open!;
    const header = toggle(
      "hideHeader",
      t("headerRow"),
      !headless(node),
      (on) => showHeader(view, position, on),
    );
    return [
      ...drawTable(view, position, node),
      ...((node.attrs.data.view as Data).type === "cards" ? [] : [header]),
      ...found,
    ];
  }
  if (type !== "image") return found;
  // An image is alone or with others in a block that defines their alignment.
  const around = view.state.doc.resolve(open!.position).parent;
  const outer = Object.entries(FIELDS.blocks.images!).filter(([name]) => !HIDDEN.has(name));
  const files = found.splice(0, 2);
  return [
    h("div", { class: "file-cards" }, ...files),
    ...found,
    ...outer.map(([name, field]) =>
      drawField(
        view,
        "images",
        name,
        field,
        (around.attrs.data as Data)[name],
        (value) => setField(view, name, field, value, true),
      )
    ),
  ];
}

const WITH_FILES = new Set(["image", "inline-image", "file", "drawing"]);

function drawField(
  view: EditorView,
  type: string,
  name: string,
  field: FieldType,
  value: unknown,
  change: (value: unknown) => void,
): HTMLElement {
  if (field.kind === "ref" && WITH_FILES.has(type)) {
    const image = type !== "file";
    const label = name === "refDark"
      ? t("dark")
      : type === "image" || type === "inline-image"
      ? t("light")
      : t("file");
    return fileField(view, {
      label,
      value: value as Ref | undefined,
      image,
      optional: !field.required,
      change,
    });
  }
  if (field.kind === "ref") {
    return targetField(view, LABELS[name] ?? name, value as Ref | undefined, !field.required, change);
  }
  if (name === "alt") return altField(value, change);
  if (type === "image" && name === "width") return widthField(field, value, change);
  return control(name, field, value, change);
}

/** Create the field for the target of a link, which shows the target's name and never its ID. */
function targetField(
  view: EditorView,
  label: string,
  value: Ref | undefined,
  optional: boolean,
  change: (value: unknown) => void,
): HTMLElement {
  const name = h(
    "span",
    { class: "target-name" },
    value?.kind === "url" ? String(value.url) : value ? "…" : t("none"),
  );
  if (value && value.kind !== "url") {
    lookupOf(view)?.target(value).then((target) => {
      name.textContent = target.title ?? words.notFound;
      name.classList.toggle("broken", target.broken === true);
    }, () => (name.textContent = words.notFound));
  }
  const button = h(
    "button",
    {
      type: "button",
      class: "target",
      "data-field": label,
      "aria-label": `${label}: ${t("chooseLink")}`,
      onclick: () =>
        openTargets(view, button, {
          title: label,
          value: value?.kind === "url" ? String(value.url) : "",
          find: (typed) => pagesFor(view, typed),
          take: ({ ref }) => ref && change(ref),
        }),
    },
    drawIcon("link"),
    name,
  );
  return h(
    "div",
    { class: "field" },
    h("span", {}, label),
    h(
      "div",
      { class: "target-row" },
      button,
      optional && value
        ? h("button", {
          type: "button",
          class: "icon-button",
          title: t("remove"),
          "aria-label": `${label}: ${t("remove")}`,
          onclick: () => change(undefined),
        }, drawIcon("xmark"))
        : null,
    ),
  );
}

/** The maximum length of a description that screen readers handle well. */
const ALT = 250;

function altField(value: unknown, change: (value: unknown) => void): HTMLElement {
  const area = h("textarea", { rows: 3, "data-field": "alt" });
  area.value = String(value ?? "");
  const hint = h("small", { class: "field-help" });
  const count = (): void => {
    const words = area.value.trim().length;
    hint.textContent = words
      ? t("altTextCount", { count: words, most: ALT })
      : t("describeImageForScreenReaders");
    hint.classList.toggle("warning", !words);
  };
  area.addEventListener("input", count);
  whileTyped(area, () => change(area.value.trim() || undefined));
  count();
  return h("label", { class: "field" }, h("span", {}, t("altText")), area, hint);
}

function control(
  name: string,
  field: FieldType,
  value: unknown,
  change: (value: unknown) => void,
): HTMLElement {
  const label = LABELS[name] ?? name;
  if (field.kind === "bool") {
    return toggle(name, label, value === true, (on) => change(on || undefined));
  }
  const input = field.choices ? chooser(field, value) : textOf(name, field, value);
  input.dataset.field = name;
  const send = (): void => {
    const read = readValue(field, input.value);
    input.setAttribute("aria-invalid", String(read === WRONG));
    if (read !== WRONG) change(read);
  };
  if (input instanceof HTMLSelectElement) input.addEventListener("change", send);
  else whileTyped(input, send);
  return h("label", { class: "field" }, h("span", {}, label), input);
}

function toggle(name: string, label: string, on: boolean, change: (on: boolean) => void): HTMLElement {
  const box = h("input", {
    type: "checkbox",
    role: "switch",
    "data-field": name,
    onchange: () => change(box.checked),
  });
  box.checked = on;
  return h("label", { class: "field check" }, h("span", {}, label), box);
}

/** The widths of an image that one click sets, as parts of the column. */
const PARTS = [.5, .75, 1];

function widthField(field: FieldType, value: unknown, change: (value: unknown) => void): HTMLElement {
  const input = control("width", field, value, change);
  const parts = PARTS.map((part) => {
    const width = widthOf(value, part);
    return h("button", {
      type: "button",
      "data-field": `width ${part}`,
      "aria-pressed": String(same(value as Json | undefined, width as Json)),
      onclick: () => change(width),
    }, `${part * 100}%`);
  });
  const choices = h("div", { class: "segments", role: "group", "aria-label": t("width") }, ...parts);
  return h("div", { class: "width-row" }, input, choices);
}

/** The keys that work on a selected block of a type, with their effects. */
const KEYS: Record<string, [keys: string[], effect: string][]> = {
  image: [
    [["Alt ←", "→"], t("resizeInline")],
    [["Enter"], t("captionInline")],
  ],
  table: [
    [["Tab"], t("nextCellInline")],
    [["Shift ↓"], t("selectCellsInline")],
    [["Alt ↓"], t("moveRowInline")],
  ],
};

function drawKeys(type: string): HTMLElement[] {
  const keys = [...KEYS[type] ?? [], [["Esc"], t("closeInline")] as const];
  return [h(
    "p",
    { class: "settings-keys", "aria-hidden": "true" },
    ...keys.map(([names, effect]) =>
      h("span", {}, ...names.map((name) => h("kbd", {}, keyName(name.replace(" ", "-")))), effect)
    ),
  )];
}

/** The labels of options. An option without one is labeled with its own name. */
const CHOICES: Record<string, string> = {
  ...words.alignments,
  ...words.colors,
  ...words.hints,
  scroll: t("scroll"),
  wrap: t("wrap"),
  original: t("originalSize"),
  line: t("lineHeight"),
  primary: t("primary"),
  secondary: t("secondary"),
  small: t("small"),
  medium: t("mediumSize"),
  large: t("largeSize"),
  ask: t("ask"),
  search: t("search"),
  select: t("selectTabs"),
};

function chooser(field: FieldType, value: unknown): HTMLSelectElement {
  const choices = field.required ? field.choices! : ["", ...field.choices!];
  const select = h(
    "select",
    {},
    ...choices.map((each) => h("option", { value: each }, each ? CHOICES[each] ?? each : t("default"))),
  );
  select.value = String(value ?? choices[0]);
  return select;
}

function textOf(name: string, field: FieldType, value: unknown): HTMLInputElement | HTMLTextAreaElement {
  if (name === "formula" || name === "source" || name === "body") {
    const area = h("textarea", { rows: 4, spellcheck: "false" });
    area.value = String(value ?? "");
    return area;
  }
  const input = h("input", {
    type: field.kind === "number" || field.kind === "int" ? "number" : "text",
    list: name === "syntax" ? "code-languages" : null,
    spellcheck: "false",
  });
  if (name === "syntax" && !document.getElementById("code-languages")) {
    document.body.append(
      h("datalist", { id: "code-languages" }, ...LANGUAGES.map((each) => h("option", { value: each }))),
    );
  }
  input.value = shown(field, value);
  return input;
}

function shown(field: FieldType, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (field.kind === "length" && typeof value === "object") {
    const { unit, value: number } = value as { unit: string; value: number };
    return `${number}${unit}`;
  }
  return Array.isArray(value) ? value.join(", ") : String(value);
}

const WRONG = Symbol("wrong");

function readValue(field: FieldType, text: string): unknown {
  const words = text.trim();
  if (words === "") return field.required && field.kind === "text" ? "" : field.required ? WRONG : undefined;
  switch (field.kind) {
    case "number":
    case "int":
      return Number.isFinite(Number(words)) && Number(words) >= 0 ? Number(words) : WRONG;
    case "length": {
      const found = /^(\d+(?:\.\d+)?)\s*(%|px|)$/.exec(words);
      if (found === null) return WRONG;
      return found[2] === "%" ? { unit: "%", value: Number(found[1]) } : Number(found[1]);
    }
    case "texts":
      return words.split(",").map((each) => each.trim()).filter(Boolean);
    default:
      return text;
  }
}
