/** Finds the page for a URL. */
import { untrack } from "svelte";
import { ApiError } from "../../../shared/client.ts";
import { address } from "../../addresses.ts";
import type { Base } from "../../editor/base.ts";
import { live } from "../../state/live.svelte.ts";
import { notices } from "../../state/notices.svelte.ts";
import { findPage, pageById } from "../../state/page.svelte.ts";
import { baseKey } from "../../state/parts.ts";
import { router } from "../../state/router.svelte.ts";
import { sessionEnded } from "../../state/signin.ts";

interface Place {
  space: string;
  base: Base;
  path: string;
}
const keyOf = ({ space, base, path }: Place) => `${space} ${baseKey(base)} ${path}`;

export class Finding {
  /** The page for the URL. It stays the current page when it is renamed, even if another page gets its path. */
  id = $state<string>();
  missing = $state.raw<ApiError>();
  #led: string | undefined;
  #moved: string | undefined;
  #looks = 0;

  /** `place` returns the parameters of the URL. Create this object while a component is initialized. */
  constructor(readonly place: () => Place) {
    const key = $derived(keyOf(place()));
    $effect(() => {
      void [router.visit, key];
      untrack(() => this.#look());
    });
    // A link that identifies a page by ID, such as a mention in a comment, redirects to the page's current
    // path.
    $effect(() => {
      const named = new URL(router.href, location.origin).searchParams.get("page");
      const { space, base, path } = place();
      if (path || !named) return;
      untrack(() =>
        pageById(space, base, named).refresh().then(
          (page) => router.go(address.page(space, page.path ?? "", base) + location.hash, { replace: true }),
          notices.fail,
        )
      );
    });
    $effect(() =>
      live.hear((news) => {
        if (news.kind === "revision" || news.kind === "ready" || news.kind === "reset") this.again();
      })
    );
  }

  /** Retry loading a page that was missing or unreachable. */
  again = () => {
    if (this.missing) void this.#look();
  };

  /** Record that the page has a new path. The path isn't looked up, because the page may be renamed again before the
   * response. */
  moved(path: string): void {
    this.#led = this.#moved = keyOf({ ...this.place(), path });
    this.#looks++;
  }

  async #look(): Promise<void> {
    const place = this.place();
    const isMoved = keyOf(place) === this.#moved;
    this.#moved = undefined;
    if (isMoved) return;
    const asked = ++this.#looks;
    this.missing = undefined;
    if (keyOf(place) !== this.#led) this.id = undefined;
    this.#led = keyOf(place);
    try {
      const found = await findPage(place.space, place.base, place.path);
      if (asked === this.#looks) this.id = found.id;
    } catch (error) {
      if (asked !== this.#looks) return;
      this.id = undefined;
      this.missing = error instanceof ApiError ? error : new ApiError(0, String(error));
      if (this.missing.status === 401) sessionEnded();
    }
  }
}
