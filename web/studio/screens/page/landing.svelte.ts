/** Scrolls a page to the anchor in the URL, or to where the person left it. */
import { untrack } from "svelte";
import type { Base, PageHandle } from "../../editor/base.ts";
import { router } from "../../state/router.svelte.ts";

interface Shown {
  space: string;
  base: Base;
  path: string;
  id: string | undefined;
  handle: PageHandle | undefined;
  main: HTMLElement | undefined;
}

/** The number of milliseconds after which scrolling has stopped. */
const STILL = 100;

export class Landing {
  /** The page to which the handle belongs. */
  #drawn = $state<string>();
  #visit: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #key = $derived.by(() => {
    const { space, base, id } = this.shown();
    return id && JSON.stringify([space, base, id]);
  });

  /** `shown`: the current page. Create this object while a component is initialized. */
  constructor(readonly shown: () => Shown) {
    const handle = $derived(shown().handle);
    $effect(() => {
      this.#drawn = handle && untrack(() => this.#key);
    });
    $effect(() => {
      const { visit, place } = router;
      const { space, base, path } = shown();
      // The properties of the screen change after the URL, when its code is loaded.
      const isHere = JSON.stringify(place) === JSON.stringify({ screen: "page", space, base, path });
      if (!isHere || !handle || this.#drawn !== this.#key || visit === this.#visit) return;
      this.#visit = visit;
      untrack(() => this.#land());
    });
    $effect(() => {
      router.readTop = () => this.#drawn === this.#key ? shown().main?.scrollTop : undefined;
      return () => (router.readTop = () => undefined);
    });
    $effect(() => {
      void router.visit;
      return () => clearTimeout(this.#timer);
    });
  }

  async #land(): Promise<void> {
    const { main, handle } = this.shown();
    if (!main) return;
    const { top } = router;
    if (top !== undefined) {
      main.scrollTo(0, top);
      // Images may still be loading.
      if (main.scrollTop < top - 1) (await import("../../editor/anchors.ts")).scrollOnceLong(main, top);
    } else if (location.hash) await handle?.reach?.(location.hash.slice(1));
    else router.keepTop();
  }

  /** Remember the position when scrolling stops. */
  scrolled(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => router.keepTop(), STILL);
  }
}
