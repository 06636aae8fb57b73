/** Explains a finding next to its text, and offers its fix. */
import type { Decoration, EditorView } from "prosemirror-view";
import { t } from "../../shared/words.ts";
import type { Fault } from "./base.ts";
import { h, place } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import { words } from "./words.ts";

interface Uses {
  /** Return the current place of a finding. */
  find: (fault: Fault) => Decoration | undefined;
  fix: (fault: Fault) => void;
  next: () => void;
}

/** Return the label of the button that fixes a finding; undefined if a person must decide. */
function nameFix({ replacement, start, end, words }: Fault): string | undefined {
  if (!replacement) return undefined;
  return replacement.start === start && replacement.end === end && replacement.text
    ? t("replaceWithText", { text: replacement.text })
    : t("removeText", { text: words });
}

export class FaultBox {
  /** The finding that is explained. */
  fault: Fault | undefined;
  #box: HTMLElement | undefined;

  constructor(readonly view: EditorView, readonly uses: Uses) {}

  /** Open the box. `focused`: whether the box gets the focus, for people who use the keyboard. */
  open(fault: Fault, focused: boolean): void {
    this.close();
    const fix = nameFix(fault);
    const next = (): void => this.uses.next();
    const back = (): void => {
      this.close();
      this.view.focus();
    };
    const box = this.#box = h(
      "div",
      {
        class: "menu fault-box",
        role: "dialog",
        "aria-labelledby": "fault-title",
        "aria-describedby": "fault-why",
      },
      h("strong", { id: "fault-title", dir: "auto" }, fault.title),
      h(
        "div",
        { id: "fault-why" },
        h("p", { dir: "auto" }, fault.message),
        fault.why ? h("small", { dir: "auto" }, fault.why) : null,
      ),
      h(
        "div",
        { class: "fault-row" },
        fix
          ? h("button", {
            type: "button",
            class: "button primary small",
            onclick: () => {
              this.close();
              this.uses.fix(fault);
            },
          }, fix)
          : null,
        h("button", { type: "button", class: "button secondary small", onclick: next }, words.next),
        h(
          "button",
          {
            type: "button",
            class: "fault-close",
            title: words.close,
            "aria-label": words.close,
            onclick: back,
          },
          drawIcon("xmark"),
        ),
      ),
    );
    box.addEventListener("keydown", (event) => {
      if (event.key === "Escape") back();
      else if (event.key === "." && (event.ctrlKey || event.metaKey)) next();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    this.fault = fault;
    document.body.append(box);
    for (const event of ["mousedown", "keydown"]) document.addEventListener(event, this.#outside, true);
    document.addEventListener("scroll", this.follow, true);
    this.follow();
    if (focused) box.querySelector("button")!.focus({ preventScroll: true });
  }

  close(): void {
    for (const event of ["mousedown", "keydown"]) document.removeEventListener(event, this.#outside, true);
    document.removeEventListener("scroll", this.follow, true);
    this.#box?.remove();
    this.#box = this.fault = undefined;
  }

  /** Move the box along with its text, which others may move or delete. */
  follow = (): void => {
    if (!this.#box || !this.fault) return;
    const mark = this.uses.find(this.fault);
    if (!mark) return this.close();
    const [start, end] = [this.view.coordsAtPos(mark.from), this.view.coordsAtPos(mark.to, -1)];
    const isOneLine = start.top === end.top;
    const sides = isOneLine
      ? [start.left, end.left].sort((one, other) => one - other)
      : [start.left, start.left];
    place(this.#box, { ...start, left: sides[0]!, right: sides[1]! });
  };

  readonly #outside = (event: Event): void => {
    if (
      !this.#box?.contains(event.target as Node) && !/^(Control|Meta)$/.test((event as KeyboardEvent).key)
    ) {
      this.close();
    }
  };
}
