/** What references lead to, asked of the API when something is drawn that needs it, and once. */
import { api, ask, type Schemas } from "../../shared/client.ts";
import { safeUrl, urlOf } from "../document/drawing.ts";
import type { Ref } from "../document/types.ts";
import type { DocumentJson } from "../document/types.ts";
import type { Base } from "./base.ts";
import { readReusable, readShared, type Shared } from "./reusing.ts";

export interface Target {
  title?: string;
  description?: string;
  /** Where the app shows it, or the address itself. */
  href?: string;
  icon?: string;
  emoji?: string;
  broken?: boolean;
}

export interface Asset {
  url: string;
  name: string;
  size?: number;
  width?: number;
  height?: number;
  /** An image in the widths that there are, for screens of any width. */
  sources?: string;
  /** On a server that is not ours, which nothing is loaded from. */
  foreign?: boolean;
}

/** How long what pages share is good. */
const SHARED = 20_000;

/** Whether an address is a path that no page and no file of the space has: those that are there are named by ids. */
export function isLost(ref: unknown): boolean {
  const { kind, url } = (ref ?? {}) as Record<string, string>;
  return kind === "url" && url !== undefined && !/^([a-z][a-z\d+.-]*:|\/\/|#)/i.test(url.trim());
}

export class Lookup {
  #targets = new Map<string, Promise<Target>>();
  #assets = new Map<string, Promise<Asset | undefined>>();

  #shared: { asked: number; found: Promise<Shared> } | undefined;

  #listeners = new Set<() => void>();

  /** `page`: the one that is shown, where it is a page. */
  constructor(readonly space: string, readonly base: Base, readonly page?: string) {}

  /** What the pages of this space share. */
  shared(): Promise<Shared> {
    if (this.#shared === undefined || Date.now() - this.#shared.asked > SHARED) {
      const found = readShared(this.space, this.base);
      this.#shared = { asked: Date.now(), found };
      found.catch(() => (this.#shared = undefined));
    }
    return this.#shared.found;
  }

  /** Something of what pages share was changed here. */
  forget(): void {
    this.#shared = undefined;
  }

  /** A reusable content says something else now. */
  changed(): void {
    this.forget();
    for (const listener of this.#listeners) listener();
  }

  /** Calls when a reusable content was changed here, until what comes back is called. */
  onchange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A reusable content: its title and its text; undefined where there is none. */
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

  /** What a variable of the space says; undefined for what is computed of more. */
  async value(expression: string): Promise<string | undefined> {
    const name = /^\s*space\.vars\.([A-Za-z]\w*)\s*$/.exec(expression)?.[1];
    return name === undefined ? undefined : (await this.shared()).variables[name];
  }

  /** What an image or a file is. */
  asset(ref: unknown): Promise<Asset | undefined> {
    return this.#once(this.#assets, ref, () => this.#askAsset(ref as Ref));
  }

  target(ref: unknown): Promise<Target> {
    return this.#once(this.#targets, ref, () => this.#askTarget(ref as Ref));
  }

  /** The address of a link without asking anybody: pages are found by their ids. */
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
      // What could not be asked now is asked again when it is drawn next.
      found.catch(() => known.delete(key));
    }
    return found;
  }

  async #askAsset(ref: Ref): Promise<Asset | undefined> {
    if (ref?.kind === "url") {
      const url = urlOf(ref);
      if (url === undefined) return undefined;
      // A path in the space's own files that leads nowhere would be asked of the app.
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

/** The `srcset` of an image of ours; its addresses have neither blanks nor commas. */
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
