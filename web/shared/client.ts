/** The API as typed functions: `const { data, error } = await api.GET("/spaces/{spaceId}", …)`. */
import createClient from "openapi-fetch";
import type { components, paths } from "../generated/schema.d.ts";
import { t } from "./words.ts";

export type Schemas = components["schemas"];

/** An answer that is no success, in the words of the server. */
export class ApiError extends Error {
  override name = "ApiError";
  constructor(
    /** The HTTP status; 0 where there was no answer at all. */
    readonly status: number,
    message: string,
    readonly retryAfter?: number,
  ) {
    super(message);
  }

  /** The field that the message begins with, as in `title: this field is required`. */
  get field(): string | undefined {
    return /^([A-Za-z][\w.[\]]*): /.exec(this.message)?.[1];
  }
}

export const api = createClient<paths>({ baseUrl: "/v1", credentials: "same-origin" });

interface Outcome<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of an answer; throws an `ApiError` for every other, also where nothing answers. */
export async function ask<T>(request: Promise<Outcome<T>>): Promise<T> {
  let outcome: Outcome<T>;
  try {
    outcome = await request;
  } catch (problem) {
    if (problem instanceof DOMException && problem.name === "AbortError") throw problem;
    if (problem instanceof SyntaxError) throw new ApiError(502, t("serverSentUnreadableResponse"));
    throw new ApiError(0, t("serverCantBeReached"));
  }
  const { data, error, response } = outcome;
  if (response.ok) return data as T;
  const told = (error as { error?: { message?: string } } | undefined)?.error?.message;
  const wait = Number(response.headers.get("retry-after")) || undefined;
  throw new ApiError(
    response.status,
    told ?? t("serverRespondedWithStatus", { status: response.status }),
    wait,
  );
}

/** The most that a page of a list has. */
const PAGE = 1000;

/** A list of the API from its first page to its last: what is shown as a whole is not cut short. `load` asks for a page. */
export async function askAll<T>(
  load: (page: { limit: number; page?: string }) => Promise<{ items: T[]; next?: { page: string } }>,
): Promise<{ items: T[]; count: number }> {
  const items: T[] = [];
  for (let next: { page?: string } | undefined = {}; next;) {
    const answer = await load({ limit: PAGE, ...next });
    items.push(...answer.items);
    next = answer.next;
  }
  return { items, count: items.length };
}
