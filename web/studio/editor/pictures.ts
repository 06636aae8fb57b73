/** Renders images. */
import { classes, urlOf } from "../document/drawing.ts";
import type { Data } from "../document/types.ts";
import { COLUMN } from "./blockdata.ts";
import { h, set } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import type { Lookup } from "./lookup.ts";
import type { Asset } from "./referenced.ts";
import { viewWords as words } from "./viewwords.ts";

/** The maximum width of a card's image if two are next to each other. */
const CARD = 360;
/** The maximum height of images in lines and cells. */
const HEIGHTS: Record<string, number> = { "image-line": 24, "cell-image": 96 };

/** Return the display width of an image for `sizes`: never less than it will be. */
export function shownWidth(
  { width: own, height: tall }: Pick<Asset, "width" | "height">,
  width: string | null,
  className?: string,
): number {
  const line = HEIGHTS[className ?? ""];
  const most = className === "card-picture" ? CARD : COLUMN;
  const percent = width?.endsWith("%") ? parseFloat(width) : undefined;
  const shown = line && own && tall
    ? line * own / tall
    : percent !== undefined
    ? most * percent / 100
    : Number(width) || own || most;
  return Math.ceil(Math.min(shown, most));
}

/** Render images for one theme or both. A missing image shows a message in its place. */
export function drawPicture(data: Data, lookup: Lookup, className?: string): HTMLElement[] {
  const parts: [unknown, string | undefined][] = [[data.ref, data.refDark ? "only-light" : undefined]];
  if (data.refDark) parts.push([data.refDark, "only-dark"]);
  return parts.map(([ref, theme]) => {
    const image = h("img", {
      alt: String(data.alt ?? ""),
      class: classes(className, theme),
      loading: "lazy",
      decoding: "async",
      draggable: "false",
    });
    const length = (value: unknown): string | null => {
      const { unit, value: number } = (value ?? {}) as { unit?: string; value?: number };
      if (typeof value === "number") return String(value);
      return number === undefined ? null : unit === "%" ? `${Math.min(number, 100)}%` : String(number);
    };
    const [width, height] = [length(data.width), length(data.height)];
    lookup.asset(ref).then((asset?: Asset) => {
      if (asset === undefined) return missing(image, ref);
      if (asset.foreign) return elsewhere(image, asset.url);
      if (asset.sources) {
        image.sizes = `min(100vw, ${shownWidth(asset, width, className)}px)`;
        image.srcset = asset.sources;
      }
      image.src = asset.url;
      const ratio = asset.width && asset.height ? asset.height / asset.width : 0;
      const own = width === null && height === null && ratio;
      set(image, {
        width: own ? asset.width : width,
        height: own
          ? asset.height
          : height ?? (ratio && width && !width.endsWith("%") ? Math.round(Number(width) * ratio) : null),
      });
    }, () => missing(image, ref));
    image.addEventListener("error", () => missing(image, ref));
    return image;
  });
}

/** A placeholder for an image on another server, which must not learn who edits here. Readers see the image. */
function elsewhere(image: HTMLImageElement, url: string): void {
  const host = url.replace(/^[a-z]*:?\/\//i, "").split("/")[0] ?? "";
  const words = `${image.alt ? `${image.alt} · ` : ""}${host}`;
  image.replaceWith(h("span", { class: "picture-missing", title: url }, drawIcon("image"), ` ${words}`));
}

function missing(image: HTMLElement, ref: unknown): void {
  image.replaceWith(h("span", { class: "picture-missing" }, `${words.notFound} ${urlOf(ref) ?? ""}`));
}
