import { t } from "../../shared/words.ts";
import { address, MAIN } from "../addresses.ts";
import { verifyPage } from "../api/content.ts";
import { notices } from "../state/notices.svelte.ts";
import { pageById } from "../state/page.svelte.ts";
import { router } from "../state/router.svelte.ts";

/** Record that a page is still correct. Opens the change request if the verification must be reviewed first. Returns
 * whether it was recorded. */
export async function verify(space: string, page: { id: string; title: string }): Promise<boolean> {
  let done = false;
  await notices.attempt(async () => {
    const { merged, changeRequest } = await verifyPage({ spaceId: space, pageId: page.id });
    done = true;
    if (merged) {
      notices.say(t("pageVerified", { title: page.title }));
      pageById(space, MAIN, page.id).outdate();
    } else if (changeRequest) {
      notices.say(t("verificationNeedsReview", { number: changeRequest.number }));
      await router.go(address.change(space, changeRequest.number, "review"));
    }
  });
  return done;
}
