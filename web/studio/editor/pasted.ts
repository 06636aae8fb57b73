/**
 * Normalizes HTML that other apps put on the clipboard, so that the rules of the schema (`document/parsing.ts`)
 * recognize what was meant. Runs in linear time for any input.
 */

/** Remove everything from one string to another, including both. If the second string is missing, the text is kept. */
function without(html: string, open: string, close: string): string {
  const found: string[] = [];
  let at = 0;
  for (;;) {
    const from = html.indexOf(open, at);
    const to = from < 0 ? -1 : html.indexOf(close, from + open.length);
    if (to < 0) return found.join("") + html.slice(at);
    found.push(html.slice(at, from));
    at = to + close.length;
  }
}

/** Rename what the app's policy blocks: styles, which are read as text, and event handlers. */
export function harmless(html: string): string {
  const words = without(without(html, "<o:p>", "</o:p>"), "<!--[if", "<![endif]-->");
  return without(without(words, "<style", "</style>"), "<STYLE", "</STYLE>")
    .replace(/\sstyle\s*=/gi, " data-style=")
    .replace(/\son(?=[a-z]+\s*=)/gi, " data-on");
}

const BLOCK = /^(P|DIV|H[1-6]|UL|OL|TABLE|PRE|BLOCKQUOTE|HR|DETAILS|ASIDE|FIGURE)$/;

/**
 * Replace elements in place with the ones that these apps mean. Returns the images that can't be referenced by
 * their URL.
 */
export function arrange(root: Element | DocumentFragment): HTMLImageElement[] {
  const all = <Found extends HTMLElement>(
    selector: string,
  ): Found[] => [...root.querySelectorAll<Found>(selector)];
  wordLists(all("p[data-style*='mso-list']"));
  formulas(all("math"));
  for (const item of all("li[role=checkbox]")) {
    item.dataset.checked = String(item.getAttribute("aria-checked") === "true");
    item.parentElement?.classList.add("tasks");
    // Google Docs draws the checkbox.
    item.querySelector(":scope > img")?.remove();
  }
  for (const list of all("div[data-task-list-local-id]")) {
    const made = list.ownerDocument.createElement("ul");
    made.className = "tasks";
    for (const task of list.querySelectorAll<HTMLElement>("[data-task-state]")) {
      const item = list.ownerDocument.createElement("li");
      item.dataset.checked = String(task.dataset.taskState === "DONE");
      item.append(contentOf(task));
      made.append(item);
    }
    if (made.firstChild) list.replaceWith(made);
  }
  for (const panel of all("div[data-panel-type], div.confluence-information-macro")) {
    panel.className = `markdown-alert ${panel.dataset.panelType ?? panel.className}`;
  }
  for (
    const name of all(".markdown-alert-title, .confluence-information-macro-icon, .Apple-interchange-newline")
  ) {
    name.remove();
  }
  for (const blank of all(".Apple-converted-space")) blank.textContent = " ";
  for (const link of all<HTMLAnchorElement>("a[href^='https://www.google.com/url?']")) {
    const to = new URL(link.getAttribute("href")!).searchParams.get("q");
    if (to) link.setAttribute("href", to);
  }
  // The table is only a wrapper around text, or a single cell of a spreadsheet.
  for (const table of all<HTMLTableElement>("table")) {
    const cells = table.querySelectorAll("td, th");
    if (cells.length === 1) table.replaceWith(contentOf(cells[0]!));
  }
  // These line breaks are only space between blocks.
  for (const line of all("br")) {
    const [before, after] = [line.previousSibling, line.nextSibling];
    if (isBlock(before) && (!after || isBlock(after)) || isBlock(after) && !before) line.remove();
  }
  for (const line of all("p")) {
    if (line.textContent?.trim() || line.querySelector("input, [data-formula]")) continue;
    if (!line.querySelector("img")) line.remove();
    // An image in a paragraph of its own is a block.
    else if (!line.querySelector("a")) line.replaceWith(figureOf(line));
  }
  const bare = new Map<Element, boolean>();
  for (const image of all("img")) {
    const around = image.parentElement;
    if (around === null || image.closest("p, a, figure, h1, h2, h3, h4, h5, h6, span") !== null) continue;
    if (!bare.has(around)) {
      bare.set(around, [...around.childNodes].every((node) => isBlock(node) || !node.textContent?.trim()));
    }
    if (bare.get(around)) image.replaceWith(figureOf(image.cloneNode() as Element));
  }
  return all<HTMLImageElement>("img").filter((image) =>
    !/^(https?:)?\/\//i.test(image.getAttribute("src")?.trim() ?? "")
  );
}

function figureOf(around: Element): HTMLElement {
  const figure = around.ownerDocument.createElement("figure");
  figure.append(...(around.localName === "img" ? [around] : around.querySelectorAll("img")));
  return figure;
}

/**
 * Keep each formula once. Pages contain a formula up to three times: as MathML, as its rendering, and as an image.
 * The result is one element with the formula in TeX, or the MathML alone if no part of it is TeX.
 */
function formulas(found: HTMLElement[]): void {
  for (const math of found) {
    const around = math.closest(".katex-display") ??
      math.closest(".katex, .mwe-math-element, mjx-container, .MathJax") ?? math;
    const source = math.querySelector("annotation[encoding='application/x-tex']")?.textContent ??
      math.getAttribute("alttext") ?? "";
    const formula = /^\s*\{\\displaystyle\s([\s\S]*)\}\s*$/.exec(source)?.[1] ?? source;
    if (!formula.trim()) {
      if (around !== math) around.replaceWith(math);
      continue;
    }
    const alone = around.matches(".katex-display, [display=true], [display=block]") ||
      math.getAttribute("display") === "block";
    const made = math.ownerDocument.createElement(alone ? "div" : "span");
    made.dataset.formula = formula.trim();
    around.replaceWith(made);
  }
}

/** Move the content of an element out of it. */
function contentOf(element: Element): DocumentFragment {
  const range = element.ownerDocument.createRange();
  range.selectNodeContents(element);
  return range.extractContents();
}

function isBlock(node: ChildNode | null): boolean {
  return node !== null && BLOCK.test(node.nodeName);
}

/** Convert lists from Word, which writes list items as paragraphs with the marker in the text and the depth in the
 * style. */
function wordLists(items: HTMLElement[]): void {
  // The open lists, outermost first, and the element before the last item.
  let open: HTMLElement[] = [];
  let last: Element | undefined;
  for (const item of items) {
    if (item.previousElementSibling !== last || last === undefined) open = [];
    const level = Math.min(9, Math.max(1, Number(/level(\d+)/.exec(item.dataset.style ?? "")?.[1] ?? 1)));
    const sign = item.querySelector("[data-style*='mso-list:Ignore'], [data-style*='mso-list: Ignore']");
    const kind = /^\s*[\p{L}\d]{1,4}[.)]/u.test(sign?.textContent ?? "") ? "ol" : "ul";
    const number = /^\s*(\d{1,9})[.)]/.exec(sign?.textContent ?? "")?.[1];
    sign?.remove();
    open = open.slice(0, level);
    if (open.length === level && open[level - 1]!.localName !== kind) open.pop();
    while (open.length < level) {
      const list = item.ownerDocument.createElement(kind);
      if (number !== undefined && open.length === level - 1) list.setAttribute("start", number);
      const around = open.at(-1);
      if (around === undefined) item.before(list);
      else {
        if (!around.lastElementChild) around.append(item.ownerDocument.createElement("li"));
        around.lastElementChild!.append(list);
      }
      open.push(list);
    }
    const made = item.ownerDocument.createElement("li");
    const words = item.ownerDocument.createElement("p");
    words.append(contentOf(item));
    made.append(words);
    open[level - 1]!.append(made);
    last = open[0];
    item.remove();
  }
}
