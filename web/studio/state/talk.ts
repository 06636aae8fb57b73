/** Comments of a space or of a change request, in one way. */
import { api, ask, askAll, type Schemas } from "../../shared/client.ts";
import type { BlockJson } from "../document/types.ts";
import type { Base } from "../editor/base.ts";
import { refresh, type Resource, resource } from "./resource.svelte.ts";

export type Comment = Schemas["Comment"];
type Status = Comment["status"];

type ReplyPath = "/spaces/{spaceId}/comments/{commentId}/replies/{commentReplyId}";

/** The comments of a change request lie at an address of their own, and are the same otherwise. */
export class Talk {
  /** `changed`: after something was done to a thread, for what keeps threads itself. */
  constructor(
    readonly space: string,
    readonly base: Base,
    readonly changed?: (comment: string) => unknown,
  ) {}

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
        askAll((next) =>
          ask(api.GET(`${this.#below}/comments` as "/spaces/{spaceId}/comments", {
            params: {
              path: this.#ids,
              query: { ...next, format: "markdown", status, ...(page ? { targetPage: page } : {}) },
            },
          }))
        ).then(({ items }) => items),
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

  /** Threads about the published pages, newest first, as the server pages them. */
  async slice(
    status: Status | "all",
    page: string | undefined,
  ): Promise<{ items: Comment[]; count: number; next?: { page: string } }> {
    const { items, count, next } = await ask(api.GET("/spaces/{spaceId}/comments", {
      params: {
        path: { spaceId: this.space },
        query: { limit: 50, format: "markdown", status, ...(page ? { page } : {}) },
      },
    }));
    return { items, count: count ?? items.length, ...(next ? { next } : {}) };
  }

  /** The page that a thread is about, with its text as it was when the thread could last be found there. */
  about({ target }: Comment): Resource<Schemas["DocumentPage"]> | undefined {
    const { page, revision } = target;
    if (!page) return undefined;
    return resource(
      `space/${this.space}/revisions/${revision}/page/${page.id}`,
      async () =>
        await ask<unknown>(api.GET("/spaces/{spaceId}/revisions/{revisionId}/page/{pageId}", {
          params: {
            path: { spaceId: this.space, revisionId: revision, pageId: page.id },
            query: { format: "document" },
          },
        })) as Schemas["DocumentPage"],
    );
  }

  replies(comment: string): Resource<Schemas["CommentReply"][]> {
    return resource(
      `${this.key}/replies/${comment}`,
      () =>
        askAll((next) =>
          ask(
            api.GET(
              `${this.#below}/comments/{commentId}/replies` as "/spaces/{spaceId}/comments/{commentId}/replies",
              {
                params: {
                  path: { ...this.#ids, commentId: comment },
                  query: { ...next, format: "markdown" },
                },
              },
            ),
          )
        ).then(({ items }) => items),
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

  /** Suggests other blocks in the place of one; none: that it is deleted. */
  async suggest(said: string, page: string, node: string, blocks: BlockJson[]): Promise<void> {
    await ask(api.POST("/spaces/{spaceId}/change-requests/{changeRequestId}/comments", {
      params: { path: this.#ids },
      body: {
        body: { markdown: said },
        page,
        node,
        suggestion: { document: blocks as Schemas["DocumentBlock"][] },
      },
    }));
    await refresh(this.key);
  }

  /** Takes a suggested edit in, declines it, or opens it again. */
  async settle(comment: string, status: Schemas["Suggestion"]["status"]): Promise<void> {
    await ask(
      api.PUT("/spaces/{spaceId}/change-requests/{changeRequestId}/comments/{commentId}/suggestion", {
        params: { path: { ...this.#ids, commentId: comment } },
        body: { status },
      }),
    );
    await refresh(`space/${this.space}/`);
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
    await this.changed?.(comment);
  }

  /** Adds a reaction of one's own, or takes it back. */
  async react(comment: string, emoji: string, added: boolean): Promise<void> {
    await ask(api.PUT(`${this.#below}/comments/{commentId}` as "/spaces/{spaceId}/comments/{commentId}", {
      params: { path: { ...this.#ids, commentId: comment } },
      body: added ? { addedReactions: [emoji] } : { removedReactions: [emoji] },
    }));
    await refresh(this.key);
    await this.changed?.(comment);
  }

  /** Says something else in the place of what was said, in a thread or in a reply to it. */
  async edit(comment: string, markdown: string, reply?: string): Promise<void> {
    const body = { body: { markdown } };
    if (reply) {
      await ask(
        api.PUT(`${this.#below}/comments/{commentId}/replies/{commentReplyId}` as ReplyPath, {
          params: { path: { ...this.#ids, commentId: comment, commentReplyId: reply } },
          body,
        }),
      );
    } else {
      await ask(api.PUT(`${this.#below}/comments/{commentId}` as "/spaces/{spaceId}/comments/{commentId}", {
        params: { path: { ...this.#ids, commentId: comment } },
        body,
      }));
    }
    await refresh(this.key);
    await this.changed?.(comment);
  }

  /** Takes back what was said, a thread with its replies. */
  async remove(comment: string, reply?: string): Promise<void> {
    if (reply) {
      await ask(
        api.DELETE(`${this.#below}/comments/{commentId}/replies/{commentReplyId}` as ReplyPath, {
          params: { path: { ...this.#ids, commentId: comment, commentReplyId: reply } },
        }),
      );
    } else {
      await ask(
        api.DELETE(`${this.#below}/comments/{commentId}` as "/spaces/{spaceId}/comments/{commentId}", {
          params: { path: { ...this.#ids, commentId: comment } },
        }),
      );
    }
    await refresh(this.key);
    await this.changed?.(comment);
  }

  async resolve(comment: string, resolved: boolean): Promise<void> {
    await ask(api.PUT(`${this.#below}/comments/{commentId}` as "/spaces/{spaceId}/comments/{commentId}", {
      params: { path: { ...this.#ids, commentId: comment } },
      body: { resolved },
    }));
    await refresh(this.key);
    await this.changed?.(comment);
  }
}

/** What somebody said, and the words of the page before it that it is about: a comment that begins with a quote. */
export function readWords(markdown: string | undefined): { quote?: string; said: string } {
  const found = /^> (.+)\n\n([^]*)$/.exec(markdown ?? "");
  if (!found) return { said: markdown ?? "" };
  return { quote: found[1]!.replace(/\\([^\w\s])/g, "$1"), said: found[2]! };
}

interface Node {
  key?: string;
  nodes?: Node[];
  leaves?: { text: string }[];
}

/** The text of a node of a document, which has this key; undefined where no node has it. */
export function textOf(document: unknown, key: string): string | undefined {
  const stack = [document as Node];
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (node.key === key) return says(node).trim();
    stack.push(...node.nodes ?? []);
  }
  return undefined;
}

const says = (node: Node): string =>
  node.leaves?.map(({ text }) => text).join("") ??
    (node.nodes ?? []).map(says).join(node.nodes?.[0]?.leaves ? "" : " ");
