/** Icons of content: loaded from the server by name, in the color of the text. */
import { h } from "./dom.ts";

export function drawIcon(name: unknown): HTMLElement {
  const made = h("span", { class: "icon", "aria-hidden": "true" });
  if (typeof name === "string" && /^[\w/ -]{1,80}$/.test(name)) {
    const mark = h("span", { class: "icon-mask" });
    mark.style.setProperty("--icon", `url("/~icons/${encodeURIComponent(name.replace("/", ":"))}.svg")`);
    made.append(mark);
  }
  return made;
}
