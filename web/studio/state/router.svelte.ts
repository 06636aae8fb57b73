/** Where somebody is. Links of the app change the place without loading the document anew. */
import { type Place, readAddress } from "../addresses.ts";

type Guard = () => boolean | Promise<boolean>;

class Router {
  place: Place = $state.raw(readAddress(location.pathname));
  /** The address as it is, for what depends on nothing else: pathname, query and anchor. */
  href: string = $state(location.pathname + location.search + location.hash);
  /** Another number each time somebody goes somewhere, also where they are already. */
  visit = $state(0);
  #guards = new Set<Guard>();

  start(): void {
    history.scrollRestoration = "manual";
    addEventListener("popstate", () => this.#arrive());
    addEventListener("click", (event) => this.#follow(event));
  }

  /** Goes to an address of the app, unless something that is not finished wants to stay. */
  async go(href: string, { replace = false } = {}): Promise<void> {
    const to = new URL(href, location.origin);
    if (to.origin !== location.origin || !isOwn(to.pathname)) return location.assign(to);
    for (const guard of this.#guards) if (!await guard()) return;
    const path = to.pathname + to.search + to.hash;
    if (replace) history.replaceState(null, "", path);
    else if (path !== this.href) history.pushState(null, "", path);
    this.#arrive();
  }

  /** What is shown has another address now. Nothing is left, so nothing is asked. */
  rename(href: string): void {
    history.replaceState(null, "", href);
    this.#read();
  }

  /** Asks before the place changes; the answer `false` stays. Gives what takes the question back. */
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
    if (
      event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey ||
      event.altKey
    ) {
      return;
    }
    const link = event.composedPath().find((node): node is HTMLAnchorElement =>
      node instanceof HTMLAnchorElement
    );
    // In a text that is being written, a click puts the caret into the link.
    if (!link?.href || link.target || link.hasAttribute("download") || link.isContentEditable) return;
    const to = new URL(link.href);
    if (to.origin !== location.origin || !isOwn(to.pathname)) return;
    if (to.pathname === location.pathname && to.hash) return;
    event.preventDefault();
    this.go(link.href);
  }
}

/** Whether the app answers at this path; the portal, the reference and the API are pages of their own. */
const isOwn = (path: string) => path === "/" || /^\/(s|o|c|~)\//.test(path);

export const router = new Router();
