/** Uploads files into the page. Placeholders mark the positions of files until they arrive. */
import type { Node } from "prosemirror-model";
import { Plugin, PluginKey } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { t } from "../../shared/words.ts";
import { schema } from "../document/schema.ts";
import { holds, insertBlock, insertEmbed, intoBlock } from "./blocks.ts";
import { h, place } from "./dom.ts";
import { words } from "./words.ts";

export interface Uploaded {
  file: string;
}

/** Uploads a file. Rejects with the server's message. */
export type Upload = (file: File) => Promise<Uploaded>;

/** Return an upload that sends files one after another, because each creates a revision of the page's draft, and
 * many at once would conflict. */
export function oneByOne(upload: Upload): Upload {
  let turn: Promise<unknown> = Promise.resolve();
  return (file) => {
    const sent = turn.then(() => upload(file));
    turn = sent.catch(() => {});
    return sent;
  };
}

const senders = new WeakMap<EditorView, Upload>();

/** Set the function that uploads files from the forms of blocks. Called by the page that is being edited. */
export function sendWith(view: EditorView, upload: Upload): void {
  senders.set(view, upload);
}

export function senderOf(view: EditorView): Upload | undefined {
  return senders.get(view);
}

interface Meta {
  add?: { id: object; at: number; name: string };
  remove?: object;
}

const key = new PluginKey<DecorationSet>("uploads");

export function uploads(): Plugin<DecorationSet> {
  return new Plugin<DecorationSet>({
    key,
    state: {
      init: () => DecorationSet.empty,
      apply(transaction, before) {
        let set = before.map(transaction.mapping, transaction.doc);
        const meta = transaction.getMeta(key) as Meta | undefined;
        if (meta?.add) {
          const { id, at, name } = meta.add;
          const element = h("span", { class: "uploading", role: "status" }, `${words.uploading} ${name}`);
          set = set.add(transaction.doc, [Decoration.widget(at, element, { id })]);
        }
        if (meta?.remove) set = set.remove(set.find(undefined, undefined, (spec) => spec.id === meta.remove));
        return set;
      },
    },
    props: { decorations: (state) => key.getState(state) },
  });
}

/** Return whether files are being uploaded into the page. */
export function isUploading(view: EditorView): boolean {
  return Boolean(key.getState(view.state)?.find().length);
}

function isPicture(file: File): boolean {
  return /^image\/(png|jpe?g|gif|webp|avif|svg\+xml)$/.test(file.type);
}

/** Return the block that shows a file of the space. */
export function fileBlock(ref: Record<string, string>, picture: boolean, alt = ""): Node {
  const { images, image, file } = schema.nodes;
  if (!picture) return file!.create({ data: { ref } });
  return images!.create(null, image!.create({ data: { ref, ...(alt ? { alt } : {}) } }));
}

/** Upload files, and insert each where it was dropped. */
export function takeFiles(
  view: EditorView,
  files: File[],
  at: number,
  upload: Upload,
  onproblem: (problem: Error) => void,
): void {
  for (const file of files) {
    const id = {};
    const place = Math.min(at, view.state.doc.content.size);
    view.dispatch(view.state.tr.setMeta(key, { add: { id, at: place, name: file.name } } satisfies Meta));
    upload(file).then((uploaded) => {
      if (view.isDestroyed) return onproblem(new Error(t("fileUploadedAfterLeaving", { name: file.name })));
      const found = key.getState(view.state)?.find(undefined, undefined, (spec) => spec.id === id)[0]?.from;
      const transaction = view.state.tr.setMeta(key, { remove: id } satisfies Meta);
      // The text around it may have been deleted.
      if (found === undefined) return view.dispatch(transaction);
      putBlock(view, transaction, found, fileBlock({ kind: "file", file: uploaded.file }, isPicture(file)));
    }, (problem: Error) => {
      if (!view.isDestroyed) view.dispatch(view.state.tr.setMeta(key, { remove: id } satisfies Meta));
      onproblem(problem);
    });
  }
}

function putBlock(view: EditorView, transaction: EditorView["state"]["tr"], at: number, block: Node): void {
  const spot = transaction.doc.resolve(at);
  let depth = spot.depth;
  while (depth > 0 && !holds(spot, depth, block.type, spot.indexAfter(depth))) depth--;
  const inside = spot.node(depth + 1);
  const { from, to } = transaction.selection;
  const caretHere = from <= at && at <= to;
  let start = depth < spot.depth ? spot.after(depth + 1) : at;
  if (depth < spot.depth && inside?.type === schema.nodes.paragraph && !inside.content.size) {
    start = spot.before(depth + 1);
    transaction.replaceWith(start, spot.after(depth + 1), block);
  } else transaction.insert(start, block);
  // Typing goes on below the block, not in the block above it.
  view.dispatch(caretHere ? intoBlock(transaction, start, block) : transaction);
}

/** Ask for a file or a URL, next to the caret. */
export function askForFile(
  view: EditorView,
  what: "image" | "file" | "link",
  upload: (files: File[], at: number) => void,
): void {
  const at = view.state.selection.from;
  const input = h("input", {
    type: "url",
    placeholder: words.pasteAddress,
    "aria-label": words.pasteAddress,
    spellcheck: "false",
  });
  const files = h("input", {
    type: "file",
    class: "hidden-text",
    accept: what === "image" ? "image/*" : null,
    multiple: true,
    "aria-label": words.chooseFile,
  });
  const box = h(
    "div",
    { class: "menu link-box", role: "dialog", "aria-label": words.asks[what] },
    h("div", { class: "link-row" }, input),
    what === "link"
      ? null
      : h("label", { class: "link-foot" }, h("span", { class: "link" }, words.chooseFile, files)),
  );
  const outside = (event: Event): void => {
    if (!box.contains(event.target as globalThis.Node)) close();
  };
  const close = (): void => {
    document.removeEventListener("mousedown", outside, true);
    box.remove();
    view.focus();
  };
  const put = (url: string): void => {
    close();
    view.dispatch(
      what === "link"
        ? insertEmbed(view.state, url)
        : insertBlock(view.state, fileBlock({ kind: "url", url }, what === "image")),
    );
  };
  files.addEventListener("change", () => {
    const chosen = [...(files.files ?? [])];
    close();
    if (chosen.length) upload(chosen, at);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && event.target === input) {
      const url = input.value.trim();
      if (/^https?:\/\/\S+$/i.test(url)) put(url);
      else input.setAttribute("aria-invalid", "true");
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.addEventListener("mousedown", outside, true);
  document.body.append(box);
  place(box, view.coordsAtPos(at));
  input.focus();
}
