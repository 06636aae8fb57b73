/** The API as typed functions: `const { data, error } = await api.GET("/spaces/{spaceId}", …)`. */
import createClient from "openapi-fetch";
import type { components, paths } from "../generated/schema.d.ts";
import { t } from "./words.ts";

export type Schemas = components["schemas"];

/** Answer of the server that is not a success, in its words. */
export class ApiError extends Error {
  override name = "ApiError";
  /** What happened, as one stable word, such as `proof_required`. Compare this, never the message. */
  readonly reason: string | undefined;
  /** The path of the field that the message begins with, such as `document.markdown`. */
  readonly field: string | undefined;
  /** Seconds to wait before trying again. */
  readonly retryAfter: number | undefined;

  constructor(
    /** The HTTP status; 0 if nothing answered. */
    readonly status: number,
    message: string,
    about: { reason?: string; field?: string; retryAfter?: number } = {},
  ) {
    super(message);
    this.reason = about.reason;
    this.field = about.field;
    this.retryAfter = about.retryAfter;
  }

  /** The message without its field, to be shown beside that field. */
  get text(): string {
    const prefix = `${this.field}: `;
    return this.field && this.message.startsWith(prefix) ? this.message.slice(prefix.length) : this.message;
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
  const told = (error as Partial<Schemas["Error"]> | undefined)?.error;
  throw new ApiError(
    response.status,
    told?.message ?? t("serverRespondedWithStatus", { status: response.status }),
    {
      ...told?.reason === undefined ? {} : { reason: told.reason },
      ...told?.field === undefined ? {} : { field: told.field },
      ...retryAfter(response),
    },
  );
}

function retryAfter(response: Response): { retryAfter?: number } {
  const seconds = Number(response.headers.get("retry-after"));
  return seconds ? { retryAfter: seconds } : {};
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
