/** Comments of a space and of a change request, with one interface. */
import { askAll, operation, type Schemas } from "../../shared/client.ts";
import {
  listCommentsInSpace,
  postCommentInChangeRequest,
  settleSuggestionInChangeRequest,
} from "../api/comments.ts";
import { getPageInRevisionById } from "../api/content.ts";
import type { BlockJson } from "../document/types.ts";
import type { Base } from "../editor/base.ts";
import { refresh, type Resource, resource } from "./resource.svelte.ts";

export type Comment = Schemas["Comment"];
type Status = Comment["status"];

/** Comments of a space or of a change request. Those of a change request have their own URL, but are otherwise the
 * same. */
export class Talk {
  /** `changed`: called after a thread has changed, for views that have their own list. */
  constructor(
    readonly space: string,
    readonly base: Base,
    readonly changed?: (comment: string) => unknown,
  ) {}

  get #below(): "/spaces/{spaceId}" {
    const below = this.base.kind === "change"
      ? "/spaces/{spaceId}/change-requests/{changeRequestId}"
      : "/spaces/{spaceId}";
    return below as "/spaces/{spaceId}";
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

  /** Load all threads, so that any thread can be found. */
  list(page: string | undefined, status: Status): Resource<Comment[]> {
    return resource(
      `${this.key}/${page ?? ""}/${status}`,
      () =>
        askAll((next) =>
          operation.GET(`${this.#below}/comments`)(this.#ids, {
            ...next,
            format: "markdown",
            status,
            targetPage: page || undefined,
          })
        ).then(({ items }) => items),
    );
  }

  /** Load one thread. */
  one(comment: string): Resource<Comment> {
    return resource(
      `${this.key}/one/${comment}`,
      () =>
        operation.GET(`${this.#below}/comments/{commentId}`)({ ...this.#ids, commentId: comment }, {
          format: "markdown",
        }),
    );
  }

  /** Load threads about published pages, newest first, page by page. */
  async slice(
    status: Status | "all",
    page: string | undefined,
  ): Promise<{ items: Comment[]; count: number; next?: { page: string } }> {
    const { items, count, next } = await listCommentsInSpace({ spaceId: this.space }, {
      limit: 50,
      format: "markdown",
      status,
      page,
    });
    return { items, count: count ?? items.length, ...(next ? { next } : {}) };
  }

  /** Load the page of a thread, with its text from the last time the thread's target existed. */
  about({ target }: Comment): Resource<Schemas["DocumentPage"]> | undefined {
    const { page, revision } = target;
    if (!page) return undefined;
    return resource(
      `space/${this.space}/revisions/${revision}/page/${page.id}`,
      async () =>
        await getPageInRevisionById({ spaceId: this.space, revisionId: revision, pageId: page.id }, {
          format: "document",
        }) as Schemas["DocumentPage"],
    );
  }

  replies(comment: string): Resource<Schemas["CommentReply"][]> {
    return resource(
      `${this.key}/replies/${comment}`,
      () =>
        askAll((next) =>
          operation.GET(`${this.#below}/comments/{commentId}/replies`)({ ...this.#ids, commentId: comment }, {
            ...next,
            format: "markdown",
          })
        ).then(({ items }) => items),
    );
  }

  /** Post a comment. `node`: the key of a block of the page. `quote`: the text in the block that the comment is
   * about. */
  async post(said: string, page?: string, node?: string, quote?: string): Promise<void> {
    const markdown = quote ? `> ${quote.replace(/[\\`*_[\]<>#~|&:!{}]/g, "\\$&")}\n\n${said}` : said;
    await operation.POST(`${this.#below}/comments`)(this.#ids, {
      body: { markdown },
      ...(page ? { page } : {}),
      ...(node ? { node } : {}),
    });
    await refresh(this.key);
  }

  /** Suggest blocks that replace a block. If there are none, suggest deleting the block. */
  async suggest(said: string, page: string, node: string, blocks: BlockJson[]): Promise<void> {
    await postCommentInChangeRequest(this.#ids, {
      body: { markdown: said },
      page,
      node,
      suggestion: { document: blocks as Schemas["DocumentBlock"][] },
    });
    await refresh(this.key);
  }

  /** Accept a suggested edit, decline it, or reopen it. */
  async settle(comment: string, status: Schemas["Suggestion"]["status"]): Promise<void> {
    await settleSuggestionInChangeRequest({ ...this.#ids, commentId: comment }, { status });
    await refresh(`space/${this.space}/`);
  }

  async reply(comment: string, markdown: string): Promise<void> {
    await operation.POST(`${this.#below}/comments/{commentId}/replies`)(
      { ...this.#ids, commentId: comment },
      {
        body: { markdown },
      },
    );
    await this.#changed(comment);
  }

  /** Add a reaction, or remove it. */
  async react(comment: string, emoji: string, added: boolean): Promise<void> {
    await this.#update(comment, added ? { addedReactions: [emoji] } : { removedReactions: [emoji] });
  }

  /** Edit a comment or a reply. */
  async edit(comment: string, markdown: string, reply?: string): Promise<void> {
    const body = { body: { markdown } };
    if (!reply) return await this.#update(comment, body);
    const ids = { ...this.#ids, commentId: comment, commentReplyId: reply };
    await operation.PUT(`${this.#below}/comments/{commentId}/replies/{commentReplyId}`)(ids, body);
    await this.#changed(comment);
  }

  /** Delete a comment with its replies, or a reply. */
  async remove(comment: string, reply?: string): Promise<void> {
    const ids = { ...this.#ids, commentId: comment };
    if (reply) {
      await operation.DELETE(`${this.#below}/comments/{commentId}/replies/{commentReplyId}`)({
        ...ids,
        commentReplyId: reply,
      });
    } else await operation.DELETE(`${this.#below}/comments/{commentId}`)(ids);
    await this.#changed(comment);
  }

  async resolve(comment: string, resolved: boolean): Promise<void> {
    await this.#update(comment, { resolved });
  }

  async #update(comment: string, body: Schemas["UpdateComment"]): Promise<void> {
    await operation.PUT(`${this.#below}/comments/{commentId}`)({ ...this.#ids, commentId: comment }, body);
    await this.#changed(comment);
  }

  async #changed(comment: string): Promise<void> {
    await refresh(this.key);
    await this.changed?.(comment);
  }
}

/** Return the text of a comment, and the quote from the page that precedes it. */
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

/** Return the text of the node with this key; undefined if there is none. */
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
