/** The reasons why a change request can't be merged, and problems to resolve first. */
import { askAll } from "../../shared/client.ts";
import { n, t } from "../../shared/words.ts";
import {
  checkMergeOfChangeRequest,
  getChangeRequestById,
  getReviewsByChangeRequestId,
  listChangeRequestLinks,
} from "../api/changes.ts";
import { describeChecks } from "../parts/mergeChecks.ts";

export interface Obstacles {
  /** The problem, with a sentence for each part. */
  lines: string[];
  /** Whether the problem prevents the merge. */
  stops: boolean;
}

export async function obstaclesOf(space: string, number: number): Promise<Obstacles> {
  const path = { spaceId: space, changeRequestId: String(number) };
  const [change, merge, reviews, links] = await Promise.all([
    getChangeRequestById(path),
    checkMergeOfChangeRequest(path),
    askAll((query) => getReviewsByChangeRequestId(path, { ...query, outdated: false })),
    listChangeRequestLinks(path, { status: "broken", brokenContext: "change-request", limit: 1 }),
  ]);
  const missing = describeChecks(merge.checks, change.conflicts).filter((one) => !one.holds);
  // Only the newest review of each person counts.
  const last = new Map(
    reviews.items.toReversed().map((one) => [one.reviewer.id, one]),
  );
  const against = [...last.values()].filter((one) => one.status === "changes-requested");
  const isNamed = missing.some((one) => one.check === "require_all_reviews_approved");
  const names = against.map((one) => one.reviewer.displayName).join(", ");
  return {
    lines: [
      ...missing.map((one) => one.missing),
      ...(against.length && !isNamed ? [t("namesRequestedChanges", { names })] : []),
      ...(change.comments ? [n("openThreadsCount", change.comments)] : []),
      ...(links.count ? [n("breaksLinks", links.count)] : []),
    ],
    stops: !merge.merges,
  };
}
