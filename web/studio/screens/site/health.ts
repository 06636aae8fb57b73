/** The labels of areas, severities, and kinds of findings. */
import type { Schemas } from "../../../shared/client.ts";
import { t } from "../../../shared/words.ts";
import type { Area, Finding } from "../../api/findings.ts";
import type { IconName } from "../../parts/Icon.svelte";

type Kind = Finding["kind"];

/** The filters of the list of findings. An empty text stands for none. */
export interface Filters {
  kind: Kind | undefined;
  severity: Finding["severity"] | undefined;
  space: string | undefined;
  /** The person that the findings are assigned to, directly or through a team. */
  assignee: string | undefined;
  search: string;
}

export const AREAS: Record<Area, { name: string; icon: IconName; kinds: readonly Kind[] }> = {
  links: {
    name: t("links"),
    icon: "link",
    kinds: ["broken-link", "broken-anchor", "missing-image", "external-link", "removed-operation"],
  },
  freshness: {
    name: t("freshness"),
    icon: "clock",
    kinds: ["review-due", "placeholder", "changed-operation", "changed-code", "changelog"],
  },
  consistency: {
    name: t("consistency"),
    icon: "copy",
    kinds: ["contradiction", "undefined-variable", "code-sample"],
  },
  style: { name: t("style"), icon: "edit", kinds: ["style"] },
  accessibility: { name: t("accessibility"), icon: "eye", kinds: ["alt-text"] },
  findability: {
    name: t("findability"),
    icon: "search",
    kinds: ["unlinked-page", "empty-search", "unanswered-question", "undocumented-operations"],
  },
};

export const KINDS: Record<Kind, string> = {
  "broken-link": t("linkToMissingPage"),
  "broken-anchor": t("linkToMissingSection"),
  "missing-image": t("imageOrFileIsMissing"),
  "external-link": t("externalLinkDoesntWork"),
  "removed-operation": t("operationWasRemoved"),
  "changed-operation": t("operationChangedAfterPage"),
  "changed-code": t("linkedCodeChanged"),
  changelog: t("changelogAnnouncedChange"),
  placeholder: t("textIsUnfinished"),
  "review-due": t("pageIsDueForReview"),
  contradiction: t("pagesContradictEachOther"),
  "undefined-variable": t("undefinedVariable"),
  "code-sample": t("codeSampleHasError"),
  "alt-text": t("imageWithoutAltText"),
  "unlinked-page": t("noPageLinksHere"),
  "empty-search": t("searchWithoutResults"),
  "unanswered-question": t("questionWithoutAnswer"),
  style: t("styleGuide"),
  "undocumented-operations": t("operationsDocumentedNowhere"),
};

export const SEVERITIES: Record<Finding["severity"], { name: string; icon: IconName; look: string }> = {
  high: { name: t("severityHigh"), icon: "problem", look: "danger" },
  medium: { name: t("severityMedium"), icon: "warning", look: "warning" },
  low: { name: t("severityLow"), icon: "circle-dot", look: "plain" },
};

/** Return the points of a sparkline of these scores in a box of this size. */
export function lineThrough(scores: readonly number[], width: number, height: number): string {
  const low = Math.min(...scores, 100);
  const span = Math.max(...scores) - low || 1;
  const step = scores.length > 1 ? width / (scores.length - 1) : 0;
  return scores
    .map((score, at) => `${(at * step).toFixed(1)},${(height - ((score - low) / span) * height).toFixed(1)}`)
    .join(" ");
}

/** Return the change of a score: `+4`, `−6`, or `0`. */
export function signed(change: number): string {
  return change > 0 ? `+${change}` : change < 0 ? `−${-change}` : "0";
}

export type Health = Schemas["SiteHealth"];
