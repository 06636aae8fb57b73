/**
 * The settings of a block in a small form next to it, generated from the table of node types: every field of every type
 * can be set.
 */
import type { EditorView } from "prosemirror-view";
import { t } from "../../shared/words.ts";
import { documentType } from "../document/schema.ts";
import { type FieldType, table } from "../document/table.ts";
import type { Data, Ref } from "../document/types.ts";
import { senderOf, type Upload } from "./uploads.ts";
import { words } from "./words.ts";
import { h, place } from "./dom.ts";
import { LANGUAGES } from "./languages.ts";

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
  info: t("codeBlockOptions"),
  ref: t("url"),
  refDark: t("urlForDarkMode"),
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
]);

let open: HTMLElement | undefined;

export function closeSettings(): void {
  open?.remove();
  open = undefined;
}

/** Open the form of the node at a position, next to an element. Each change is a separate edit. */
export function openSettings(view: EditorView, position: number | undefined, beside: HTMLElement): void {
  closeSettings();
  if (position === undefined || !view.editable) return;
  const node = view.state.doc.nodeAt(position);
  const type = node === null ? undefined : documentType(node);
  if (node === null || type === undefined) return;
  const row = (node.isInline ? table.inlines : table.blocks)[type]!;
  const set = (name: string, field: FieldType, value: unknown): void => {
    const now = view.state.doc.nodeAt(position);
    if (now?.type !== node.type) return closeSettings();
    const where = field.meta ? "meta" : "data";
    const fields = { ...(now.attrs[where] as Data | null), [name]: value } as Record<string, unknown>;
    const kept = Object.fromEntries(
      Object.entries(fields).filter(([, each]) => each !== undefined && each !== ""),
    );
    view.dispatch(view.state.tr.setNodeAttribute(position, where, kept));
  };
  const fields = Object.entries(row.data).filter(([name]) =>
    !HIDDEN.has(name) && !HIDDEN.has(`${name}:${type}`)
  );
  const inputs = fields.map(([name, field]) => {
    const source = (field.meta ? node.attrs.meta : node.attrs.data) as Data | null;
    const made = control(name, field, source?.[name], (value) => set(name, field, value));
    const send = field.kind === "ref" && WITH_FILES.has(type) ? senderOf(view) : undefined;
    return send ? withFile(made, type, send, (value) => set(name, field, value)) : made;
  });
  if (!inputs.length) return;
  const form = h("div", {
    class: "menu block-settings",
    role: "dialog",
    "aria-label": LABELS[type] ?? type.replaceAll("-", " "),
  }, ...inputs);
  open = form;
  document.body.append(form);
  place(form, beside.getBoundingClientRect());
  form.querySelector<HTMLElement>("input, select, textarea")?.focus();
  const stop = (event: Event): void => {
    if (event instanceof KeyboardEvent) {
      if (event.key !== "Escape" && !(event.key === "Enter" && event.target instanceof HTMLInputElement)) {
        return;
      }
      event.preventDefault();
      view.focus();
    } else if (form.contains(event.target as globalThis.Node)) return;
    closeSettings();
    document.removeEventListener("mousedown", stop, true);
    document.removeEventListener("keydown", stop, true);
  };
  document.addEventListener("mousedown", stop, true);
  document.addEventListener("keydown", stop, true);
}

function control(
  name: string,
  field: FieldType,
  value: unknown,
  change: (value: unknown) => void,
): HTMLElement {
  const label = LABELS[name] ?? name;
  if (field.kind === "bool") {
    const box = h("input", { type: "checkbox", onchange: () => change(box.checked || undefined) });
    box.checked = value === true;
    return h("label", { class: "field check" }, box, h("span", {}, label));
  }
  const input = field.choices ? chooser(field, value) : textOf(name, field, value);
  input.addEventListener("change", () => {
    const read = readValue(field, input.value, value);
    input.setAttribute("aria-invalid", String(read === WRONG));
    if (read !== WRONG) change(read);
  });
  return h("label", { class: "field" }, h("span", {}, label), input);
}

const WITH_FILES = new Set(["image", "inline-image", "file", "drawing"]);

/** A file field with an upload button. */
function withFile(
  label: HTMLElement,
  type: string,
  send: Upload,
  change: (value: unknown) => void,
): HTMLElement {
  const files = h("input", {
    type: "file",
    class: "file-choice",
    accept: type === "file" ? null : "image/*",
    "aria-label": `${label.textContent}: ${words.chooseFile}`,
  });
  const name = h("span", {}, words.chooseFile);
  const choice = h("label", { class: "file-row" }, name, files);
  files.addEventListener("change", () => {
    const file = files.files?.[0];
    if (!file) return;
    name.textContent = `${words.uploading} ${file.name}`;
    send(file).then((sent) => {
      change({ kind: "file", file: sent.file });
      label.querySelector("input")!.value = file.name;
      name.textContent = words.chooseFile;
    }, (problem: Error) => {
      name.textContent = problem.message;
    });
  });
  return h("div", { class: "field-with-file" }, label, choice);
}

function chooser(field: FieldType, value: unknown): HTMLSelectElement {
  const choices = field.required ? field.choices! : ["", ...field.choices!];
  const select = h(
    "select",
    {},
    ...choices.map((each) => h("option", { value: each }, each || t("default"))),
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
  if (field.kind === "ref") {
    const ref = value as Ref;
    return ref.kind === "url"
      ? String(ref.url)
      : Object.entries(ref).filter(([name]) => name !== "kind").map(([, each]) => each).join("/");
  }
  if (field.kind === "length" && typeof value === "object") {
    const { unit, value: number } = value as { unit: string; value: number };
    return `${number}${unit}`;
  }
  return Array.isArray(value) ? value.join(", ") : String(value);
}

const WRONG = Symbol("wrong");

function readValue(field: FieldType, text: string, before: unknown): unknown {
  const words = text.trim();
  if (words === "") return field.required && field.kind === "text" ? "" : field.required ? WRONG : undefined;
  switch (field.kind) {
    case "number":
    case "int":
      return Number.isFinite(Number(words)) && Number(words) >= 0 ? Number(words) : WRONG;
    case "ref":
      // A selected page or file stays selected until its text is edited.
      return words === shown(field, before) ? before : { kind: "url", url: words };
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
