/** The open threads of a page, marked in its text, and the active one. */
import { untrack } from "svelte";
import type { About, Base, PageHandle } from "../../editor/base.ts";
import { notices } from "../../state/notices.svelte.ts";
import { router } from "../../state/router.svelte.ts";
import { type Comment, readWords, Talk } from "../../state/threads.ts";

interface Shown {
  space: string;
  base: Base;
  id: string | undefined;
}

const remarkOf = ({ id, target, body }: Comment) => ({
  id,
  node: target.node!.id,
  quote: readWords(body.markdown).quote,
});

export class PageTalk {
  /** The target of a new comment. */
  about = $state.raw<About>();
  active = $state<string>();
  status = $state<Comment["status"]>("open");
  /** The IDs of threads in text order. */
  order = $state.raw<string[]>([]);
  #toShow = $state.raw<Comment>();
  readonly #threads = $derived.by(() => {
    const { space, base, id } = this.shown();
    return id && base.kind !== "revision" ? new Talk(space, base).list(id, "open") : undefined;
  });

  /** `shown`: the current page. `handle`: the handle of its text. `open`: opens the threads next to it. Create this
   * object while a component is initialized. */
  constructor(
    readonly shown: () => Shown,
    readonly handle: () => PageHandle | undefined,
    open: () => void,
  ) {
    $effect(() => {
      const found = (this.threads ?? []).filter((one) => one.target.node && !one.target.gone);
      this.order = handle()?.remark(found.map(remarkOf), this.active) ?? [];
    });
    // Open the thread in the URL next to the page, and scroll to its text.
    const named = $derived(new URL(router.href, location.origin).searchParams.get("comment"));
    $effect(() => {
      const [thread, { space, base, id }] = [named, shown()];
      this.#toShow = undefined;
      if (!thread || !id || base.kind === "revision") return;
      untrack(() => new Talk(space, base).one(thread).refresh({ force: true })).then((comment) => {
        if (named !== thread || shown().id !== id) return;
        [this.status, this.active] = [comment.status, thread];
        open();
        this.#toShow = comment;
      }, (error) => notices.fail(error));
    });
    $effect(() => {
      if (this.#toShow) this.show(this.#toShow);
    });
  }

  get threads(): Comment[] | undefined {
    return this.#threads?.value;
  }

  /** Scroll to the text of a thread. */
  show(comment: Comment): void {
    const handle = this.handle();
    if (!handle) return;
    if (comment.target.node && !comment.target.gone) handle.show(remarkOf(comment));
    this.#toShow = undefined;
  }
}
