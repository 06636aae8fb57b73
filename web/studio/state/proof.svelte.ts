/** Asks people to confirm their identity before they change sign-in settings. The server requires this every 15
 * minutes. */
import { ApiError } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";

class Proof {
  /** The action that is waiting for the confirmation. */
  waiting: { done: () => void; left: () => void } | undefined = $state.raw();

  /** Run an action. If the server requires a confirmation, ask the person for it, and run the action again. */
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
