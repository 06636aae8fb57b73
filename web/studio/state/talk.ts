/** Comments of a space or of a change request, in one way. */
import { api, ask, type Schemas } from "../../shared/client.ts";
import type { Base } from "../editor/base.ts";
import { refresh, type Resource, resource } from "./resource.svelte.ts";

export type Comment = Schemas["Comment"];
type Status = Comment["status"];

const PAGE = 200;

/** A list of the API from its first page to its last. */
async function all<T>(
  load: (next: { page?: string }) => Promise<{ items: T[]; next?: { page: string } }>,
): Promise<T[]> {
  const found: T[] = [];
  for (let next: { page?: string } | undefined = {}; next;) {
    const answer = await load(next);
    found.push(...answer.items);
    next = answer.next;
  }
  return found;
}

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

  /** All of them: whoever looks for a thread finds it. */
  list(page: string | undefined, status: Status): Resource<Comment[]> {
    return resource(
      `${this.key}/${page ?? ""}/${status}`,
      () =>
        all((next) =>
          ask(api.GET(`${this.#below}/comments` as "/spaces/{spaceId}/comments", {
            params: {
              path: this.#ids,
              query: {
                limit: PAGE,
                format: "markdown",
                status,
                ...(page ? { targetPage: page } : {}),
                ...next,
              },
            },
          }))
        ),
    );
  }

  /** One thread. */
  one(comment: string): Resource<Comment> {
    return resource(
      `${this.key}/one/${comment}`,
      () =>
        ask(api.GET(`${this.#below}/comments/{commentId}` as "/spaces/{spaceId}/comments/{commentId}", {
          params: { path: { ...this.#ids, commentId: comment }, query: { format: "markdown" } },
        })),
    );
  }

  replies(comment: string): Resource<Schemas["CommentReply"][]> {
    return resource(
      `${this.key}/replies/${comment}`,
      () =>
        all((next) =>
          ask(
            api.GET(
              `${this.#below}/comments/{commentId}/replies` as "/spaces/{spaceId}/comments/{commentId}/replies",
              {
                params: {
                  path: { ...this.#ids, commentId: comment },
                  query: { limit: PAGE, format: "markdown", ...next },
                },
              },
            ),
          )
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

  /** Adds a reaction of one's own, or takes it back. */
  async react(comment: string, emoji: string, added: boolean): Promise<void> {
    await ask(api.PUT(`${this.#below}/comments/{commentId}` as "/spaces/{spaceId}/comments/{commentId}", {
      params: { path: { ...this.#ids, commentId: comment } },
      body: added ? { addedReactions: [emoji] } : { removedReactions: [emoji] },
    }));
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
