/** Asking once more who somebody is, before what changes how they sign in: the server wants it after a quarter of an hour. */
import { ApiError } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";

class Proof {
  /** What waits for it. */
  waiting: { done: () => void; left: () => void } | undefined = $state.raw();

  /** Does something, once more after a proof where the server asks for one. */
  async before<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (problem) {
      if (!(problem instanceof ApiError && problem.reason === "proof_required")) throw problem;
      await new Promise<void>((done, left) => {
        this.waiting = { done, left: () => left(new Error(t("noChangesWereMade"))) };
      });
      return await work();
    }
  }

  close(proved: boolean): void {
    const waiting = this.waiting;
    this.waiting = undefined;
    if (proved) waiting?.done();
    else waiting?.left();
  }
}

export const proof = new Proof();
