/** Node views for images, and for files, embeds, and other blocks with a caption. */
import type { Node } from "prosemirror-model";
import { classes, safeUrl, urlOf } from "../document/drawing.ts";
import { isPlayed } from "../document/richdrawing.ts";
import type { Data } from "../document/types.ts";
import { sizeOf } from "../parts/sizes.ts";
import { h, set, sign } from "./dom.ts";
import { openSettings } from "./opening.ts";
import { viewWords as words } from "./viewwords.ts";
import { dataOf, Drawn } from "./drawn.ts";
import { drawPicture } from "./pictures.ts";

export class ImagesView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    this.dom = this.contentDOM = h("div");
    this.#show();
  }

  #show(): void {
    const { align, withFrame, fullWidth } = dataOf(this.node);
    this.dom.className = classes(
      "images",
      this.node.childCount > 1 && "gallery",
      typeof align === "string" && `at-${align}`,
      withFrame === true && "framed",
      fullWidth === true && "wide",
    )!;
  }

  override update(node: Node): boolean {
    if (node.type !== this.node.type) return false;
    this.node = node;
    this.#show();
    return true;
  }
}

/** A block with a caption: an image, a file, an embed. */
export class CaptionedView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    const data = dataOf(this.node);
    const type = this.node.type.name;
    const inside = type === "image"
      ? this.#image(data)
      : type === "file"
      ? this.#file(data)
      : this.#embed(data);
    this.contentDOM = h("div", { class: "caption-place" });
    const name = { image: "image", file: "attached", embed: "embed" }[type]!;
    const shown = h(
      "div",
      { class: "captioned", contenteditable: "false", onclick: () => this.select() },
      ...inside,
    );
    this.dom = h(
      "figure",
      { class: classes(name, data.fullWidth === true && "wide") },
      shown,
      this.contentDOM,
    );
    if (this.editable) {
      if (type === "image") {
        void import("./resizing.ts").then((made) => made.resizable(this.view, this.position, shown));
      }
      shown.append(
        h("button", {
          type: "button",
          class: "block-tool",
          title: words.settings,
          "aria-label": words.settings,
          onclick: (event: MouseEvent) => {
            event.stopPropagation();
            openSettings(this.view, this.position(), event.currentTarget as HTMLElement);
          },
        }, sign("edit")),
      );
    }
  }

  #image(data: Data): HTMLElement[] {
    return drawPicture(data, this.around.lookup);
  }

  #file(data: Data): HTMLElement[] {
    const name = h("span", { class: "file-name" });
    const facts = h("small");
    const link = h(
      "a",
      { class: "file", rel: "noopener" },
      sign("page"),
      h("span", { class: "file-text" }, name, facts),
      sign("download"),
    );
    link.addEventListener("click", (event) => this.editable && event.preventDefault());
    this.around.lookup.asset(data.ref).then((asset) => {
      name.textContent = asset?.name ?? urlOf(data.ref) ?? words.notFound;
      const kind = asset?.name.includes(".") ? asset.name.split(".").at(-1)!.toUpperCase().slice(0, 6) : "";
      facts.textContent = [kind, asset?.size ? sizeOf(asset.size) : ""].filter(Boolean).join(" · ");
      if (asset) set(link, { href: asset.url, download: asset.name });
    }, () => (name.textContent = words.notFound));
    return [link];
  }

  #embed(data: Data): HTMLElement[] {
    const url = safeUrl(data.url);
    const host = url?.replace(/^[a-z]+:\/\/(www\.)?/i, "").split("/")[0] ?? "";
    if (isPlayed(url)) {
      return [
        h(
          "div",
          { class: "player video" },
          h("span", { class: "play", "aria-hidden": "true" }),
          h("span", { class: "embed-text" }, host),
          h("small", {}, url),
        ),
      ];
    }
    return [
      h(
        "div",
        { class: "ref" },
        sign("link"),
        h(
          "span",
          { class: "ref-text" },
          h("span", { class: "ref-title" }, url ?? ""),
          h("span", { class: "ref-line" }, host),
        ),
        sign("forward"),
      ),
    ];
  }
}
