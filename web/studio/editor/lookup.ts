/** Resolves the targets of references with the API, once, when they are rendered. */
import { address } from "../addresses.ts";
import { urlOf } from "../document/drawing.ts";
import type { Ref } from "../document/types.ts";
import type { DocumentJson } from "../document/types.ts";
import type { Base } from "./base.ts";
import type { Asset, Preview, Target } from "./referenced.ts";
import { readReusable, readShared, type Shared } from "./sharing.ts";

const references = () => import("./references.ts");

/** How long data that pages share is cached. */
const SHARED = 20_000;

export class Lookup {
  #targets = new Map<string, Promise<Target>>();
  #assets = new Map<string, Promise<Asset | undefined>>();
  #previews = new Map<string, Promise<Preview | undefined>>();

  #shared: { asked: number; found: Promise<Shared> } | undefined;

  #listeners = new Set<() => void>();

  /** `page`: the ID of the current page, if the content belongs to a page. */
  constructor(readonly space: string, readonly base: Base, readonly page?: string) {}

  /** Return the data that the pages of this space share. */
  shared(): Promise<Shared> {
    if (this.#shared === undefined || Date.now() - this.#shared.asked > SHARED) {
      const found = readShared(this.space, this.base);
      this.#shared = { asked: Date.now(), found };
      found.catch(() => (this.#shared = undefined));
    }
    return this.#shared.found;
  }

  /** Discard the shared data, because it was changed here. */
  forget(): void {
    this.#shared = undefined;
  }

  /** Record that reusable content changed. */
  changed(): void {
    this.forget();
    for (const listener of this.#listeners) listener();
  }

  /** Call a function when reusable content was changed here, until the returned function is called. */
  onchange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Return reusable content with its title and text; undefined if it doesn't exist. */
  async reusable(ref: unknown): Promise<{ title: string; document: DocumentJson } | undefined> {
    const { space, reusableContent } = (ref ?? {}) as Record<string, string>;
    if (reusableContent === undefined) return undefined;
    const foreign = space !== undefined && space !== this.space;
    const shared = foreign ? await readShared(space, { kind: "main" }) : await this.shared();
    const found = shared.contents.find((one) => one.id === reusableContent);
    if (found === undefined) return undefined;
    const document = await readReusable(foreign ? space : this.space, shared.revision, reusableContent);
    return { title: found.title, document };
  }

  /** Return the value of a variable of the space; undefined for expressions. */
  async value(expression: string): Promise<string | undefined> {
    const name = /^\s*space\.vars\.([A-Za-z]\w*)\s*$/.exec(expression)?.[1];
    return name === undefined ? undefined : (await this.shared()).variables[name];
  }

  /** Return an image or a file. */
  asset(ref: unknown): Promise<Asset | undefined> {
    return this.#once(this.#assets, ref, async () => (await references()).readAsset(this, ref as Ref));
  }

  /** Return the title and the name of the site of a page on another server. */
  preview(url: string): Promise<Preview | undefined> {
    return this.#once(this.#previews, url, async () => (await references()).readPreview(this, url));
  }

  target(ref: unknown): Promise<Target> {
    return this.#once(this.#targets, ref, async () => (await references()).readTarget(this, ref as Ref));
  }

  /** Return the URL of a link without a request: pages are found by their IDs. */
  href(ref: unknown): string | undefined {
    const { kind, page, space, anchor } = (ref ?? {}) as Record<string, string>;
    if (kind === "url") return urlOf(ref);
    if (kind === "page" || (kind === "anchor" && page)) {
      const root = space === undefined || space === this.space
        ? address.page(this.space, "", this.base)
        : address.page(space, "");
      return `${root}?page=${page}${anchor ? `#${encodeURIComponent(anchor)}` : ""}`;
    }
    if (kind === "anchor") return `#${encodeURIComponent(anchor ?? "")}`;
    if (kind === "space") return `/s/${space}`;
    return undefined;
  }

  #once<T>(known: Map<string, Promise<T>>, ref: unknown, ask: () => Promise<T>): Promise<T> {
    const key = JSON.stringify(ref ?? null);
    let found = known.get(key);
    if (found === undefined) {
      found = ask();
      known.set(key, found);
      // Failed requests are retried when the reference is rendered again.
      found.catch(() => known.delete(key));
    }
    return found;
  }
}
