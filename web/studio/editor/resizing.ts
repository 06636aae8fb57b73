/** Resizes images by their edges or with keys, and edits their captions. */
import { type Command, NodeSelection, Selection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { t } from "../../shared/words.ts";
import { schema } from "../document/schema.ts";
import type { Data } from "../document/types.ts";
import { COLUMN, setData } from "./blockdata.ts";
import { h, set } from "./dom.ts";

/** The step of a resize, as a fraction of the column width. */
const STEP = .05;
const LEAST = .05;
/** The distance from half and full width within which the width snaps to them. */
const CATCH = .02;

function caught(part: number): number {
  const kept = Math.min(1, Math.max(LEAST, part));
  return [.5, 1].find((each) => Math.abs(each - kept) < CATCH) ?? kept;
}

/** Return a width in the unit of the file. */
export function widthOf(before: unknown, part: number): unknown {
  const { unit } = (before ?? {}) as { unit?: string };
  return unit === "%" ? { unit, value: Math.round(part * 100) } : Math.round(part * COLUMN);
}

/** Add handles to both edges of an image. */
export function resizable(view: EditorView, position: () => number | undefined, shown: HTMLElement): void {
  const label = h("span", { class: "image-size", hidden: true, "aria-hidden": "true" });
  const part = (): number => {
    const image = shown.querySelector<HTMLImageElement>("img:not([hidden])");
    return image ? image.getBoundingClientRect().width / COLUMN : 1;
  };
  const dataOf = (): Data | undefined => {
    const at = position();
    return at === undefined ? undefined : view.state.doc.nodeAt(at)?.attrs.data as Data | undefined;
  };
  const keep = (wanted: number): void => {
    const data = dataOf();
    if (data) setData(view, position(), { width: widthOf(data.width, caught(wanted)), height: undefined });
  };
  const preview = (wanted: number): void => {
    const width = Math.round(caught(wanted) * COLUMN);
    for (const image of shown.querySelectorAll("img")) {
      image.style.setProperty("width", `${width}px`);
      image.style.setProperty("height", "auto");
    }
    label.textContent = `${width} px · ${Math.round(caught(wanted) * 100)}%`;
    label.hidden = false;
  };
  const handle = (side: "left" | "right"): HTMLElement => {
    const made = h("button", {
      type: "button",
      class: `image-edge ${side}`,
      role: "slider",
      "aria-label": side === "left" ? t("widthLeftEdge") : t("widthRightEdge"),
      "aria-valuemin": LEAST * 100,
      "aria-valuemax": 100,
      onfocus: () => set(made, { "aria-valuenow": Math.round(part() * 100) }),
      onclick: (event: Event) => event.stopPropagation(),
    });
    made.addEventListener("pointerdown", (down) => {
      down.preventDefault();
      made.setPointerCapture(down.pointerId);
      made.focus();
      const began = part();
      // A centered image grows on both sides.
      const { left, right } = shown.getBoundingClientRect();
      const image = shown.querySelector("img")?.getBoundingClientRect();
      const middle = image !== undefined && image.left - left > 2 && right - image.right > 2;
      let wanted = began;
      const move = (event: PointerEvent): void => {
        const moved = (event.clientX - down.clientX) * (side === "left" ? -1 : 1);
        wanted = began + moved * (middle ? 2 : 1) / COLUMN;
        preview(wanted);
      };
      const end = (): void => {
        made.removeEventListener("pointermove", move);
        label.hidden = true;
        if (wanted !== began) keep(wanted);
      };
      made.addEventListener("pointermove", move);
      made.addEventListener("pointerup", end, { once: true });
      made.addEventListener("pointercancel", end, { once: true });
    });
    made.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -STEP, ArrowRight: STEP, ArrowDown: -STEP, ArrowUp: STEP }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      keep(part() + by * (side === "left" && event.key.match(/Left|Right/) ? -1 : 1));
    });
    return made;
  };
  shown.append(handle("left"), handle("right"), label);
}

/** Make the selected image wider or narrower. */
export function resizeImage(by: 1 | -1): Command {
  return (state, _, view) => {
    const { selection } = state;
    if (!(selection instanceof NodeSelection) || selection.node.type !== schema.nodes.image || !view) {
      return false;
    }
    const dom = view.nodeDOM(selection.from);
    const image = dom instanceof HTMLElement ? dom.querySelector("img") : null;
    const now = image ? image.getBoundingClientRect().width / COLUMN : 1;
    const { width } = selection.node.attrs.data as Data;
    setData(view, selection.from, { width: widthOf(width, caught(now + by * STEP)), height: undefined });
    return true;
  };
}

/** Move from a selected image, file, or embed into its caption, creating the caption if necessary. */
export const writeCaption: Command = (state, dispatch) => {
  const { selection } = state;
  const { caption, paragraph } = schema.nodes;
  if (!(selection instanceof NodeSelection) || !selection.node.type.contentMatch.matchType(caption!)) {
    return false;
  }
  const transaction = state.tr;
  if (!selection.node.childCount) {
    transaction.insert(selection.from + 1, caption!.create(null, paragraph!.create()));
  }
  const end = transaction.doc.resolve(selection.from + transaction.doc.nodeAt(selection.from)!.nodeSize - 1);
  const place = Selection.findFrom(end, -1, true);
  if (place) dispatch?.(transaction.setSelection(place).scrollIntoView());
  return place !== null;
};
