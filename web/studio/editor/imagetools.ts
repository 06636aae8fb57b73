/** The toolbar on a selected image: alignment, width, another file, settings, comments, and the block menu. */
import { NodeSelection, Plugin } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { t } from "../../shared/words.ts";
import { schema } from "../document/schema.ts";
import type { Data } from "../document/types.ts";
import { notices } from "../state/notices.svelte.ts";
import { setData } from "./blockdata.ts";
import { h, place, set } from "./dom.ts";
import { openBlockMenu } from "./handle.ts";
import { drawIcon } from "./icons.ts";
import { openSettings } from "./opening.ts";
import { chosen } from "./threadmarks.ts";
import type { ToolbarOptions } from "./toolbar.ts";
import { senderOf } from "./uploads.ts";
import { words } from "./words.ts";

/** The distance to the edges of the image in pixels. */
const INSET = 12;

export function imageTools(options: ToolbarOptions): Plugin {
  return new Plugin({ view: (view) => new ImageBar(view, options) });
}

class ImageBar {
  #dom = h("div", { class: "menu toolbar", role: "toolbar", "aria-label": t("image"), hidden: true });
  #alignments: HTMLElement[];
  #wide: HTMLElement;
  #stop = new AbortController();

  constructor(private view: EditorView, options: ToolbarOptions) {
    const { comment } = options;
    this.#alignments = ["left", "center", "right"].map((align) =>
      this.#button(
        words.alignments[align]!,
        `align-${align}`,
        () => this.#set({ align, fullWidth: undefined }),
      )
    );
    this.#wide = this.#button(t("fullWidth"), "expand", () => {
      this.#set({ fullWidth: this.#around()?.fullWidth === true ? undefined : true });
    });
    this.#bar();
    this.#button(words.replace, "rotate", (button) => this.#replace(button), words.replace);
    this.#button(words.settings, "gear", (button) => void openSettings(view, this.#position(), button));
    this.#bar();
    if (comment) {
      this.#button(words.comment, "regular/comment", () => {
        const about = chosen(view.state);
        if (about) comment(about);
      }, words.comment);
    }
    this.#button(words.more, "ellipsis", (button) => openBlockMenu(view, button, options));
    this.#dom.addEventListener("mousedown", (event) => event.preventDefault());
    document.body.append(this.#dom);
    const { signal } = this.#stop;
    for (const event of ["scroll", "resize"]) {
      addEventListener(event, () => this.#dom.hidden || this.update(), {
        signal,
        capture: true,
        passive: true,
      });
    }
  }

  #bar(): void {
    this.#dom.append(h("span", { class: "bar" }));
  }

  #button(title: string, icon: string, run: (button: HTMLElement) => void, word?: string): HTMLElement {
    const button = h(
      "button",
      {
        type: "button",
        title,
        "aria-label": title,
        tabindex: "-1",
        onclick: () => run(button),
      },
      drawIcon(icon),
      word ? h("span", { class: "button-word" }, word) : null,
    );
    this.#dom.append(button);
    return button;
  }

  /** Return the position of the selected image. */
  #position(): number | undefined {
    const { selection } = this.view.state;
    return selection instanceof NodeSelection && selection.node.type === schema.nodes.image
      ? selection.from
      : undefined;
  }

  /** Return the data of the block around the image, which defines the alignment. */
  #around(): Data | undefined {
    const at = this.#position();
    return at === undefined ? undefined : this.view.state.doc.resolve(at).parent.attrs.data as Data;
  }

  #set(fields: Record<string, unknown>): void {
    const at = this.#position();
    if (at !== undefined) setData(this.view, this.view.state.doc.resolve(at).before(), fields);
    this.view.focus();
  }

  /** Upload another file for the image. The image keeps its previous file if that fails. */
  #replace(button: HTMLElement): void {
    const at = this.#position();
    const send = senderOf(this.view);
    if (at === undefined || !send) return;
    const before = this.view.state.doc.nodeAt(at)!;
    const input = h("input", { type: "file", accept: "image/*" });
    input.addEventListener("change", async () => {
      const file = input.files?.[0];
      if (!file) return;
      set(button, { "aria-busy": "true" });
      await notices.attempt(async () => {
        const sent = await send(file);
        // Other people may have moved or deleted the image in the meantime.
        this.view.state.doc.descendants((node, now) => {
          if (node.type === before.type && node.attrs.key === before.attrs.key) {
            setData(this.view, now, { ref: { kind: "file", file: sent.file }, height: undefined });
          }
        });
      });
      set(button, { "aria-busy": null });
    });
    input.click();
  }

  update(): void {
    const at = this.#position();
    const shown = at === undefined ? null : this.view.nodeDOM(at);
    const image = shown instanceof HTMLElement ? shown.querySelector("img:not([hidden])") : null;
    const box = image?.getBoundingClientRect();
    this.#dom.hidden = !this.view.editable || !box || box.bottom < 0 || box.top > innerHeight;
    if (!box || this.#dom.hidden) return;
    const around: Data = this.#around() ?? {};
    const { align = "center", fullWidth } = around;
    this.#alignments.forEach((button, number) => {
      const own = ["left", "center", "right"][number];
      set(button, { "aria-pressed": String(!fullWidth && align === own) });
    });
    set(this.#wide, { "aria-pressed": String(fullWidth === true) });
    const { width, height } = this.#dom.getBoundingClientRect();
    if (box.width < width + 4 * INSET || box.height < height + 4 * INSET) {
      const { left, top, bottom } = box;
      place(this.#dom, { left: left + (box.width - width) / 2, top, bottom }, true);
    } else {
      this.#dom.style.setProperty("left", `${box.right - width - INSET}px`);
      this.#dom.style.setProperty("top", `${box.top + INSET}px`);
    }
  }

  destroy(): void {
    this.#stop.abort();
    this.#dom.remove();
  }
}
