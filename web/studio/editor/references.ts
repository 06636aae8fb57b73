/** Reads the targets of references, which most pages with links don't need. */
import { api, ask, type Schemas } from "../../shared/client.ts";
import { safeUrl, urlOf } from "../document/drawing.ts";
import type { Ref } from "../document/types.ts";
import { type Asset, isLost, type Preview, type Resolver, type Target } from "./referenced.ts";

/** Return an image or a file. */
export async function readAsset({ space, base }: Resolver, ref: Ref): Promise<Asset | undefined> {
  if (ref?.kind === "url") {
    const url = urlOf(ref);
    if (url === undefined) return undefined;
    // The path of a missing file would be requested from the app.
    if (!/^(https?:)?\/\//i.test(url)) return undefined;
    return { url, name: decodeName(url), foreign: true };
  }
  if (ref?.kind !== "file") return undefined;
  const path = { spaceId: space, fileId: String(ref.file) };
  const file: Schemas["File"] = base.kind === "change"
    ? await ask(api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}/content/files/{fileId}", {
      params: { path: { ...path, changeRequestId: String(base.number) } },
    }))
    : base.kind === "revision"
    ? await ask(api.GET("/spaces/{spaceId}/revisions/{revisionId}/files/{fileId}", {
      params: { path: { ...path, revisionId: base.id } },
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

/** Return the target of a reference. */
export async function readTarget(lookup: Resolver, ref: Ref): Promise<Target> {
  const href = lookup.href(ref);
  if (ref?.kind === "url") {
    const url = safeUrl(ref.url);
    return { href: url, title: url, broken: url === undefined || isLost(ref) };
  }
  if (ref?.kind === "user") return { title: "@" };
  if (ref?.kind === "tag") return { title: String(ref.tag) };
  const space = typeof ref?.space === "string" ? ref.space : lookup.space;
  if ((ref?.kind === "page" || ref?.kind === "anchor") && typeof ref.page === "string") {
    const page = await findPage(lookup, space, ref.page);
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
    const file = await lookup.asset(ref);
    return file === undefined ? { broken: true } : { title: file.name, href: file.url };
  }
  return { href, broken: href === undefined };
}

async function findPage(
  lookup: Resolver,
  space: string,
  page: string,
): Promise<Schemas["DocumentPage"] | undefined> {
  const query = { format: "markdown", pages: false } as const;
  const own = space === lookup.space && lookup.base.kind === "change";
  const answer = own && lookup.base.kind === "change"
    ? await api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}/content/page/{pageId}", {
      params: { path: { spaceId: space, changeRequestId: String(lookup.base.number), pageId: page }, query },
    })
    : await api.GET("/spaces/{spaceId}/content/page/{pageId}", {
      params: { path: { spaceId: space, pageId: page }, query },
    });
  return answer.data as Schemas["DocumentPage"] | undefined;
}

/** Return the title and the name of the site of a page on another server. */
export async function readPreview({ space }: Resolver, url: string): Promise<Preview | undefined> {
  const found = await ask(
    api.GET("/spaces/{spaceId}/embed", { params: { path: { spaceId: space }, query: { url } } }),
  );
  // Without a title of its own, the name of the site or the URL is returned.
  const { title, site } = found as Preview;
  return title && title !== url && title !== site ? { title, site } : undefined;
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
