/**
 * Renders diagrams in the same way as sites do: in a frame without an origin, where a diagram's content can do no
 * harm. The results are shown as images, in which scripts never run.
 */
import { h } from "./dom.ts";

export interface Diagram {
  svg: string;
  width: number;
  height: number;
  /** The diagram's description for screen readers. */
  said: string;
}

/** Mermaid's colors, taken from our design tokens, as on sites. */
const TOKENS: Record<string, string> = {
  background: "bg",
  mainBkg: "primary-soft",
  primaryColor: "primary-soft",
  primaryTextColor: "strong",
  primaryBorderColor: "primary",
  nodeBorder: "primary",
  lineColor: "muted",
  textColor: "text",
  titleColor: "strong",
  secondaryColor: "raised",
  secondaryTextColor: "text",
  secondaryBorderColor: "line-strong",
  tertiaryColor: "sunken",
  tertiaryTextColor: "text",
  tertiaryBorderColor: "line-strong",
  clusterBkg: "raised",
  clusterBorder: "line-strong",
  edgeLabelBackground: "bg",
  noteBkgColor: "warning-soft",
  noteTextColor: "strong",
  noteBorderColor: "warning",
  errorBkgColor: "danger-soft",
  errorTextColor: "danger",
};

const FRAME = "/~diagrams/diagrams.html";
const FONT = "ui-sans-serif, system-ui, sans-serif";
/** The maximum time for rendering a diagram. */
const PATIENCE = 10_000;

function colorsOf(dark: boolean): Record<string, string> {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.colorScheme = dark ? "dark" : "light";
  const found: Record<string, string> = {};
  for (const [name, token] of Object.entries(TOKENS)) {
    probe.style.color = `color-mix(in srgb, var(--${token}), var(--${token}))`;
    const { color } = getComputedStyle(probe);
    const whole = color.startsWith("color(") ? 255 : 1;
    const parts = color.match(/-?[\d.]+(e-?\d+)?/g)!.slice(0, 3).map((each) => Number(each) * whole);
    found[name] = `#${
      parts.map((each) => Math.round(Math.min(Math.max(each, 0), 255)).toString(16).padStart(2, "0")).join("")
    }`;
  }
  probe.remove();
  return found;
}

let ready: Promise<Window> | undefined;
let asked = 0;
/** A rendered diagram, or the line of the source with the error if it is known. */
type Result = { drawn: Diagram } | { drawn?: undefined; line?: number };
const waiting = new Map<number, (result: Result) => void>();

/** Return the frame when it can render. */
function frame(): Promise<Window> {
  ready ??= new Promise((resolve) => {
    const made = h("iframe", {
      sandbox: "allow-scripts",
      class: "diagram-frame",
      "aria-hidden": "true",
      tabindex: "-1",
      src: FRAME,
    });
    addEventListener("message", ({ data, source }) => {
      if (source !== made.contentWindow) return;
      if (data.ready) resolve(made.contentWindow!);
      else {
        waiting.get(data.id)?.(data);
        waiting.delete(data.id);
      }
    });
    document.body.append(made);
  });
  return ready;
}

/** Render a diagram in the theme's colors. */
export async function drawDiagram(code: string): Promise<Result> {
  const window = await frame();
  const id = ++asked;
  const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark") &&
    (!getComputedStyle(document.documentElement).colorScheme.includes("light") ||
      matchMedia("(prefers-color-scheme: dark)").matches);
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    setTimeout(() => waiting.delete(id) && resolve({}), PATIENCE);
    window.postMessage({ id, code, dark, colors: colorsOf(dark), font: FONT }, "*");
  });
}

export function diagramImage({ svg, width, height, said }: Diagram, code: string): HTMLImageElement {
  const image = h("img", { alt: said || code, width, height, draggable: "false" });
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  return image;
}
