/** What references lead to. */
import type { Base } from "./base.ts";

export interface Target {
  title?: string;
  description?: string;
  /** Its URL in the app, or the URL itself. */
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
  /** Whether it is on another server, from which nothing is loaded. */
  foreign?: boolean;
}

/** Where references are resolved. */
export interface Resolver {
  space: string;
  base: Base;
  href(ref: unknown): string | undefined;
  asset(ref: unknown): Promise<Asset | undefined>;
}

/** Return whether a URL is a path of no page or file of the space: existing ones are referenced by id. */
export function isLost(ref: unknown): boolean {
  const { kind, url } = (ref ?? {}) as Record<string, string>;
  return kind === "url" && url !== undefined && !/^([a-z][a-z\d+.-]*:|\/\/|#)/i.test(url.trim());
}
