/** Resolves the targets of references with the API, once, when they are rendered. */
import { api, ask, type Schemas } from "../../shared/client.ts";
import { safeUrl, urlOf } from "../document/drawing.ts";
import type { Ref } from "../document/types.ts";
import type { DocumentJson } from "../document/types.ts";
import type { Base } from "./base.ts";
import { readReusable, readShared, type Shared } from "./sharing.ts";

export interface Target {
  title?: string;
  description?: string;
  /** The target's URL in the app, or the URL itself. */
  href?: string;
  icon?: string;
  emoji?: string;
  broken?: boolean;
}

export interface Preview {
  title: string;
  site: string;
}

export interface Asset {
  url: string;
  name: string;
  size?: number;
  width?: number;
  height?: number;
  /** The available widths of an image, for screens of any width. */
  sources?: string;
  /** Whether the target is on another server, from which nothing is loaded. */
  foreign?: boolean;
}

/** The number of milliseconds for which data that pages share is cached. */
const SHARED = 20_000;

/** Return whether a URL is a path without a page or file in the space. Existing pages and files are referenced by
 * ID. */
export function isLost(ref: unknown): boolean {
  const { kind, url } = (ref ?? {}) as Record<string, string>;
  return kind === "url" && url !== undefined && !/^([a-z][a-z\d+.-]*:|\/\/|#)/i.test(url.trim());
}

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
    return this.#once(this.#assets, ref, () => this.#askAsset(ref as Ref));
  }

  /** Return the title and the name of the site of a page on another server. */
  preview(url: string): Promise<Preview | undefined> {
    return this.#once(this.#previews, url, async () => {
      const found = await ask(
        api.GET("/spaces/{spaceId}/embed", { params: { path: { spaceId: this.space }, query: { url } } }),
      );
      // Without a title of its own, the name of the site or the URL is returned.
      const { title, site } = found as Preview;
      return title && title !== url && title !== site ? { title, site } : undefined;
    });
  }

  target(ref: unknown): Promise<Target> {
    return this.#once(this.#targets, ref, () => this.#askTarget(ref as Ref));
  }

  /** Return the URL of a link without a request: pages are found by their IDs. */
  href(ref: unknown): string | undefined {
    const { kind, page, space, anchor } = (ref ?? {}) as Record<string, string>;
    if (kind === "url") return urlOf(ref);
    if (kind === "page" || (kind === "anchor" && page)) {
      return `/s/${space ?? this.space}?page=${page}${anchor ? `#${encodeURIComponent(anchor)}` : ""}`;
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

  async #askAsset(ref: Ref): Promise<Asset | undefined> {
    if (ref?.kind === "url") {
      const url = urlOf(ref);
      if (url === undefined) return undefined;
      // The path of a missing file would be requested from the app.
      if (!/^(https?:)?\/\//i.test(url)) return undefined;
      return { url, name: decodeName(url), foreign: true };
    }
    if (ref?.kind !== "file") return undefined;
    const path = { spaceId: this.space, fileId: String(ref.file) };
    const file: Schemas["File"] = this.base.kind === "change"
      ? await ask(api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}/content/files/{fileId}", {
        params: { path: { ...path, changeRequestId: String(this.base.number) } },
      }))
      : this.base.kind === "revision"
      ? await ask(api.GET("/spaces/{spaceId}/revisions/{revisionId}/files/{fileId}", {
        params: { path: { ...path, revisionId: this.base.id } },
      }))
      : await ask(api.GET("/spaces/{spaceId}/content/files/{fileId}", { params: { path } }));
    const size = file.dimensions;
    return {
      url: file.downloadURL,
      name: file.name,
      size: file.size,
      width: size?.width,
      height: size?.height,
      sources: sourcesOf(file),
    };
  }

  async #askTarget(ref: Ref): Promise<Target> {
    const href = this.href(ref);
    if (ref?.kind === "url") {
      const url = safeUrl(ref.url);
      return { href: url, title: url, broken: url === undefined || isLost(ref) };
    }
    if (ref?.kind === "user") return { title: "@" };
    if (ref?.kind === "tag") return { title: String(ref.tag) };
    const space = typeof ref?.space === "string" ? ref.space : this.space;
    if ((ref?.kind === "page" || ref?.kind === "anchor") && typeof ref.page === "string") {
      const page = await this.#page(space, ref.page);
      if (page === undefined) return { broken: true };
      return {
        title: page.title,
        description: page.description,
        href,
        emoji: page.emoji,
        icon: page.icon,
      };
    }
    if (ref?.kind === "space") {
      const found = await ask(
        api.GET("/spaces/{spaceId}", { params: { path: { spaceId: String(ref.space) } } }),
      );
      return { title: found.title, href };
    }
    if (ref?.kind === "file") {
      const file = await this.asset(ref);
      return file === undefined ? { broken: true } : { title: file.name, href: file.url };
    }
    return { href, broken: href === undefined };
  }

  async #page(space: string, page: string): Promise<Schemas["DocumentPage"] | undefined> {
    const query = { format: "markdown", pages: false } as const;
    const own = space === this.space && this.base.kind === "change";
    const answer = own && this.base.kind === "change"
      ? await api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}/content/page/{pageId}", {
        params: { path: { spaceId: space, changeRequestId: String(this.base.number), pageId: page }, query },
      })
      : await api.GET("/spaces/{spaceId}/content/page/{pageId}", {
        params: { path: { spaceId: space, pageId: page }, query },
      });
    return answer.data as Schemas["DocumentPage"] | undefined;
  }
}

/** Return the `srcset` of an image on this server; its URLs have neither spaces nor commas. */
export function sourcesOf(
  file: Pick<Schemas["File"], "variants" | "downloadURL" | "dimensions">,
): string | undefined {
  const variants = file.variants ?? [];
  const own = file.dimensions?.width ?? 0;
  const all = variants.map(({ downloadURL, width }) => `${downloadURL} ${width}w`);
  if (all.length && variants.at(-1)!.width < own) all.push(`${file.downloadURL} ${own}w`);
  return all.join(", ") || undefined;
}

function decodeName(url: string): string {
  const name = url.split(/[?#]/)[0]!.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
