/** The reviewers and checks of a change request, and the actions of a reviewer. */
import { askAll, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { address } from "../addresses.ts";
import {
  checkMergeOfChangeRequest,
  getRequestedReviewersByChangeRequestId,
  getReviewsByChangeRequestId,
  removeRequestedReviewerFromChangeRequest,
  requestReviewersForChangeRequest,
  submitChangeRequestReview,
  updateChangeRequest,
  updateChangeRequestById,
} from "../api/changes.ts";
import { type CheckLine, describeChecks } from "../parts/mergeChecks.ts";
import { documentOf, linesOf } from "../parts/plainText.ts";
import { notices } from "../state/notices.svelte.ts";
import { changeOf } from "../state/pages.svelte.ts";
import { refresh, resource } from "../state/resource.svelte.ts";
import { router } from "../state/router.svelte.ts";
import { session } from "../state/session.svelte.ts";

/** Checks that no rule can bypass. */
const ALWAYS: string[] = ["status", "permission", "conflicts"];

interface Place {
  space: string;
  number: number;
}
const keyOf = ({ space, number }: Place) => `space/${space}/changes/${number}`;
const idsOf = ({ space, number }: Place) => ({ spaceId: space, changeRequestId: String(number) });

const reviewsOf = (at: Place) =>
  resource(`${keyOf(at)}/reviews`, () => askAll((query) => getReviewsByChangeRequestId(idsOf(at), query)));
const reviewersOf = (at: Place) =>
  resource(
    `${keyOf(at)}/reviewers`,
    () => askAll((query) => getRequestedReviewersByChangeRequestId(idsOf(at), query)),
  );
const checksOf = (at: Place) => resource(`${keyOf(at)}/merge`, () => checkMergeOfChangeRequest(idsOf(at)));

export class Deciding {
  readonly #reviews = $derived.by(() => reviewsOf(this.at()));
  readonly #reviewers = $derived.by(() => reviewersOf(this.at()));
  readonly #found = $derived.by(() => checksOf(this.at()));
  readonly #change = $derived.by(() => changeOf(this.at().space, this.at().number));

  /** `at` returns the change request. Create this object while a component is initialized. */
  constructor(readonly at: () => Place) {}

  get #key() {
    return keyOf(this.at());
  }

  get #ids() {
    return idsOf(this.at());
  }

  get change(): Schemas["ChangeRequest"] | undefined {
    return this.#change.value;
  }

  get reviews(): Schemas["Review"][] {
    return this.#reviews.value?.items ?? [];
  }

  get asked(): Schemas["RequestedReviewer"][] {
    return this.#reviewers.value?.items ?? [];
  }

  get #checks() {
    return this.#found.value;
  }

  get rules(): CheckLine[] {
    return describeChecks(this.#checks?.checks ?? [], this.change?.conflicts);
  }

  /** Return whether the person can merge although rules aren't met. */
  get bypasses(): boolean {
    return this.#checks?.bypasses ?? false;
  }

  /** Return the reasons why the change request can't be merged, as sentences. */
  get stopped(): string {
    if (this.#checks?.merges !== false) return "";
    return this.rules
      .filter((one) => !one.holds && (!this.bypasses || ALWAYS.includes(one.check)))
      .map((one) => one.missing)
      .join(" ");
  }

  get description(): string {
    return linesOf(this.change?.description).trim();
  }

  /** Return the person's last review if it was a review of an earlier state. */
  get mineBefore(): string | undefined {
    const found = this.reviews.find((one) => one.reviewer.id === session.user.value?.id);
    return found && this.change && found.revision !== this.change.revision ? found.revision : undefined;
  }

  async ask(people: Schemas["User"][]): Promise<void> {
    await notices.attempt(async () => {
      await requestReviewersForChangeRequest(this.#ids, { users: people.map((one) => one.id) });
      await refresh(this.#key);
      notices.say(t("reviewRequestedFrom", { names: people.map((one) => one.displayName).join(", ") }));
    });
  }

  /** Cancel a review request. */
  async unask(person: Schemas["User"]): Promise<void> {
    await notices.attempt(async () => {
      await removeRequestedReviewerFromChangeRequest({ ...this.#ids, userId: person.id });
      await refresh(this.#key);
      notices.say(t("reviewRequestToCanceled", { name: person.displayName }), {
        undo: () => this.ask([person]),
      });
    });
  }

  async describe(text: string): Promise<void> {
    await updateChangeRequestById(this.#ids, { description: documentOf(text) });
    await refresh(this.#key);
  }

  async review(status: "approved" | "changes-requested"): Promise<void> {
    await notices.attempt(async () => {
      await submitChangeRequestReview(this.#ids, { status });
      await refresh(this.#key);
      const { number } = this.at();
      notices.say(
        status === "approved" ? t("youApprovedNumber", { number }) : t("youRequestedChangesIn", { number }),
      );
    });
  }

  /** Update the change request from main. */
  async update(): Promise<void> {
    await notices.attempt(async () => {
      const answer = await updateChangeRequest(this.#ids);
      await refresh(this.#key);
      const { space, number } = this.at();
      if (answer.result === "conflicts") await router.go(address.change(space, number, "conflicts"));
      else notices.say(t("hasLatestChangesFromSpace", { number }));
    });
  }
}
