/** Counts the actions of a site's visitors. */
import type { Schemas } from "../../shared/client.ts";
import { aggregateSiteEvents } from "../api/published.ts";
import type { SitePath } from "../api/sites.ts";
import { resource } from "./resource.svelte.ts";

/** Load counts of events, with a row for each group and values by column. */
export async function countEvents(
  path: SitePath,
  body: Schemas["Aggregate"],
): Promise<Record<string, unknown>[]> {
  const { columns } = await aggregateSiteEvents(path, body);
  return (columns[0]?.values ?? []).map((_, at) =>
    Object.fromEntries(columns.map(({ column, values }) => [column, values[at]]))
  );
}

const DAY = 86_400_000;

/** Return the start and end of a period of this many days that ends today, in the server's time zone. `back`: how
 * many periods earlier it is. */
export function lastDays(days: number, back = 0): { from: string; to: string } {
  const end = Math.floor(Date.now() / DAY) * DAY + DAY - back * days * DAY;
  return { from: new Date(end - days * DAY).toISOString(), to: new Date(end).toISOString() };
}

/** Load the most frequent values of a column in the last days. */
export async function countMost(
  path: SitePath,
  days: number,
  column: Schemas["Column"]["column"],
  where: Schemas["Filter"][],
  limit = 50,
): Promise<{ name: unknown; count: number }[]> {
  const rows = await countEvents(path, {
    range: lastDays(days),
    select: [{ column: "eventsCount" }],
    order: { by: { column: "eventsCount" }, direction: "desc" },
    groupBy: [{ column }],
    where,
    limit,
  });
  return rows.map((row) => ({ name: row[column], count: Number(row.eventsCount) }));
}

/** Return how often a page of a space was read on a site in the last 30 days, and the percentage of ratings that are
 * positive. The percentage is unknown if there are no ratings. */
export const readersOf = (path: SitePath, space: string, page: string) =>
  resource(`site/${path.siteId}/insights/pages/${space}/${page}`, async () => {
    const rows = await countEvents(path, {
      range: lastDays(30),
      where: [
        { column: "page", values: [{ space, page }] },
        { column: "eventType", values: ["page_view", "page_post_feedback"] },
      ],
      groupBy: [{ column: "eventType" }],
      select: [{ column: "eventsCount" }, { column: "pageFeedbackRating" }],
    });
    const of = (type: string) => rows.find((row) => row.eventType === type);
    const { good = 0, ok = 0, bad = 0 } = (of("page_post_feedback")?.pageFeedbackRating ?? {}) as Record<
      string,
      number
    >;
    const rated = good + ok + bad;
    return {
      read: Number(of("page_view")?.eventsCount ?? 0),
      helpful: rated ? Math.round(good / rated * 100) : undefined,
    };
  });
