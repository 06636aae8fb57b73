/** Comments of a space or of a change request, in one way. */
import { api, ask, type Schemas } from "../../shared/client.ts";
import type { Base } from "../editor/base.ts";
import { refresh, type Resource, resource } from "./resource.svelte.ts";

export type Comment = Schemas["Comment"];
type Status = Comment["status"];

/** The comments of a change request lie at an address of their own, and are the same otherwise. */
export class Talk {
  constructor(readonly space: string, readonly base: Base) {}

  get #below(): string {
    return this.base.kind === "change"
      ? "/spaces/{spaceId}/change-requests/{changeRequestId}"
      : "/spaces/{spaceId}";
  }

  get #ids() {
    return {
      spaceId: this.space,
      changeRequestId: this.base.kind === "change" ? String(this.base.number) : "",
    };
  }

  get key(): string {
    return `space/${this.space}/talk/${this.#ids.changeRequestId}`;
  }

  list(page: string | undefined, status: Status): Resource<Schemas["CommentList"]> {
    return resource(
      `${this.key}/${page ?? ""}/${status}`,
      () =>
        ask(api.GET(`${this.#below}/comments` as "/spaces/{spaceId}/comments", {
          params: {
            path: this.#ids,
            query: { limit: 100, format: "markdown", status, ...(page ? { targetPage: page } : {}) },
          },
        })),
    );
  }

  replies(comment: string): Resource<Schemas["CommentReplyList"]> {
    return resource(
      `${this.key}/replies/${comment}`,
      () =>
        ask(
          api.GET(
            `${this.#below}/comments/{commentId}/replies` as "/spaces/{spaceId}/comments/{commentId}/replies",
            {
              params: {
                path: { ...this.#ids, commentId: comment },
                query: { limit: 100, format: "markdown" },
              },
            },
          ),
        ),
    );
  }

  /** `node`: the key of a block of the page, `quote`: words of it that this is about. */
  async post(said: string, page?: string, node?: string, quote?: string): Promise<void> {
    const markdown = quote ? `> ${quote.replace(/[\\`*_[\]<>#~|&:!{}]/g, "\\$&")}\n\n${said}` : said;
    await ask(api.POST(`${this.#below}/comments` as "/spaces/{spaceId}/comments", {
      params: { path: this.#ids },
      body: { body: { markdown }, ...(page ? { page } : {}), ...(node ? { node } : {}) },
    }));
    await refresh(this.key);
  }

  async reply(comment: string, markdown: string): Promise<void> {
    await ask(
      api.POST(
        `${this.#below}/comments/{commentId}/replies` as "/spaces/{spaceId}/comments/{commentId}/replies",
        {
          params: { path: { ...this.#ids, commentId: comment } },
          body: { body: { markdown } },
        },
      ),
    );
    await refresh(this.key);
  }

  async resolve(comment: string, resolved: boolean): Promise<void> {
    await ask(api.PUT(`${this.#below}/comments/{commentId}` as "/spaces/{spaceId}/comments/{commentId}", {
      params: { path: { ...this.#ids, commentId: comment } },
      body: { resolved },
    }));
    await refresh(this.key);
  }
}

/** What somebody said, and the words of the page before it that it is about: a comment that begins with a quote. */
export function readWords(markdown: string | undefined): { quote?: string; said: string } {
  const found = /^> (.+)\n\n([^]*)$/.exec(markdown ?? "");
  if (!found) return { said: markdown ?? "" };
  return { quote: found[1]!.replace(/\\([^\w\s])/g, "$1"), said: found[2]! };
}
