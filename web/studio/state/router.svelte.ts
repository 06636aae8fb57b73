/** The current URL. Links in the app change it without reloading the document. */
import { type Place, readAddress } from "../addresses.ts";

type Guard = () => boolean | Promise<boolean>;

class Router {
  place: Place = $state.raw(readAddress(location.pathname));
  /** The full URL: pathname, query, and anchor. */
  href: string = $state(location.pathname + location.search + location.hash);
  /** Incremented with each navigation, even to the same URL. */
  visit = $state(0);
  #guards = new Set<Guard>();

  start(): void {
    history.scrollRestoration = "manual";
    addEventListener("popstate", () => this.#arrive());
    addEventListener("click", (event) => this.#follow(event));
  }

  /** Navigate to a URL of the app, unless a guard prevents it. */
  async go(href: string, { replace = false } = {}): Promise<void> {
    const to = new URL(href, location.origin);
    if (to.origin !== location.origin || !isOwn(to.pathname)) return location.assign(to);
    const path = to.pathname + to.search + to.hash;
    const isWithin = to.hash && to.pathname + to.search === location.pathname + location.search;
    if (!isWithin) { for (const guard of this.#guards) if (!await guard()) return; }
    if (replace || path === this.href) history.replaceState(null, "", path);
    else history.pushState(null, "", path);
    this.#arrive();
  }

  /** Replace the URL of the current content without asking guards. */
  rename(href: string): void {
    history.replaceState(history.state, "", href);
    this.#read();
  }

  /** How far the current content was scrolled when the person left it, if they came back to it. */
  get top(): number | undefined {
    return (history.state as { top?: number } | null)?.top;
  }

  /** Remember how far the current content is scrolled. */
  keepTop(top: number): void {
    history.replaceState({ top }, "");
  }

  /** Add a guard that is asked before navigation and can return `false` to cancel it. Returns a function that
   * removes the guard. */
  guard(ask: Guard): () => void {
    this.#guards.add(ask);
    return () => this.#guards.delete(ask);
  }

  #arrive(): void {
    this.visit++;
    this.#read();
  }

  #read(): void {
    this.href = location.pathname + location.search + location.hash;
    this.place = readAddress(location.pathname);
  }

  #follow(event: MouseEvent): void {
    if (event.defaultPrevented || event.button || event.shiftKey || event.altKey) return;
    const link = event.composedPath().find((node): node is HTMLAnchorElement =>
      node instanceof HTMLAnchorElement
    );
    // In text that is being edited, a click places the caret in the link, and one with a modifier follows it.
    if (!link?.href || link.isContentEditable !== (event.metaKey || event.ctrlKey)) return;
    if (link.target || link.hasAttribute("download")) return;
    const to = new URL(link.href);
    if (to.origin !== location.origin || !isOwn(to.pathname)) return;
    // The browser moves the focus to the screen's own targets.
    if (link.classList.contains("skip")) return;
    event.preventDefault();
    this.go(link.href);
  }
}

/** Return whether the app handles this path; the portal, the reference, and the API are separate pages. */
const isOwn = (path: string) => path === "/" || /^\/(s|o|c|~)\//.test(path);

export const router = new Router();
