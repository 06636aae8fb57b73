/**
 * HTML as other programs put it on the clipboard, made such that the schema's rules (`document/parsing.ts`) find what was
 * meant. Everything here takes time in proportion to the text, whoever wrote it.
 */

/** Removes what is between two texts, with them; what is not closed stays. */
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

/** What the app's policy stops is not even tried: styles are read as text, handlers have another name. */
export function harmless(html: string): string {
  const words = without(without(html, "<o:p>", "</o:p>"), "<!--[if", "<![endif]-->");
  return without(without(words, "<style", "</style>"), "<STYLE", "</STYLE>")
    .replace(/\sstyle\s*=/gi, " data-style=")
    .replace(/\son(?=[a-z]+\s*=)/gi, " data-on");
}

const BLOCK = /^(P|DIV|H[1-6]|UL|OL|TABLE|PRE|BLOCKQUOTE|HR|DETAILS|ASIDE|FIGURE)$/;

/** Changes elements in place to those that say what these programs mean. */
export function arrange(root: Element | DocumentFragment): void {
  const all = <Found extends HTMLElement>(
    selector: string,
  ): Found[] => [...root.querySelectorAll<Found>(selector)];
  wordLists(all("p[data-style*='mso-list']"));
  for (const item of all("li[role=checkbox]")) {
    item.dataset.checked = String(item.getAttribute("aria-checked") === "true");
    item.parentElement?.classList.add("tasks");
    // Google draws the box.
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
  // A box around words, or one cell of a spreadsheet.
  for (const table of all<HTMLTableElement>("table")) {
    const cells = table.querySelectorAll("td, th");
    if (cells.length === 1) table.replaceWith(contentOf(cells[0]!));
  }
  // Space between blocks.
  for (const line of all("br")) {
    const [before, after] = [line.previousSibling, line.nextSibling];
    if (isBlock(before) && (!after || isBlock(after)) || isBlock(after) && !before) line.remove();
  }
  for (const line of all("p")) {
    if (!line.textContent?.trim() && !line.querySelector("img, input")) line.remove();
  }
}

/** What is in an element, taken out of it, however much it is. */
function contentOf(element: Element): DocumentFragment {
  const range = element.ownerDocument.createRange();
  range.selectNodeContents(element);
  return range.extractContents();
}

function isBlock(node: ChildNode | null): boolean {
  return node !== null && BLOCK.test(node.nodeName);
}

/** Word writes items of lists as paragraphs, with their sign in the text and their depth in the style. */
function wordLists(items: HTMLElement[]): void {
  // The lists that are open, outermost first, and what the last item stood behind.
  let open: HTMLElement[] = [];
  let last: Element | undefined;
  for (const item of items) {
    if (item.previousElementSibling !== last || last === undefined) open = [];
    const level = Math.min(9, Math.max(1, Number(/level(\d+)/.exec(item.dataset.style ?? "")?.[1] ?? 1)));
    const sign = item.querySelector("[data-style*='mso-list:Ignore'], [data-style*='mso-list: Ignore']");
    const kind = /^\s*[\p{L}\d]{1,4}[.)]/u.test(sign?.textContent ?? "") ? "ol" : "ul";
    sign?.remove();
    open = open.slice(0, level);
    if (open.length === level && open[level - 1]!.localName !== kind) open.pop();
    while (open.length < level) {
      const list = item.ownerDocument.createElement(kind);
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
