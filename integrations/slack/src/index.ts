// Posts a message about each new revision of a space to an incoming webhook.

import { createIntegration, ExposableError, type RuntimeContext, type RuntimeEnvironment } from "@gitbook/runtime";

type Configuration = { webhook_url?: string };
type Context = RuntimeContext<RuntimeEnvironment<Configuration, Configuration>>;

// Verbs by type of change. All other changes of a page count as "changed".
const WORDS: Record<string, string> = {
  page_created: "added",
  page_edited: "changed",
  page_deleted: "deleted",
  page_moved: "moved",
};
const MOST = 10;

// Escape the characters of Slack's markup: https://docs.slack.dev/messaging/formatting-message-text
const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

async function describe(spaceId: string, revisionId: string, { api }: Context): Promise<string> {
  const [{ data: space }, { data: found }] = await Promise.all([
    api.spaces.getSpaceById(spaceId),
    api.spaces.getRevisionSemanticChanges(spaceId, revisionId, { limit: MOST, metadata: false }),
  ]);
  const link = `<${space.urls.published ?? space.urls.app}|${escaped(space.title)}>`;
  const subject = found.mergedFrom?.subject;
  const head = subject ? `*${escaped(subject)}* was merged into ${link}` : `${link} was changed`;
  const pages = found.changes.flatMap((change) =>
    "page" in change ? [`• ${escaped(change.page.title)}: ${WORDS[change.type] ?? "changed"}`] : []
  );
  const more = found.more ? [`and ${found.more} more`] : [];
  return [head, ...pages, ...more].join("\n");
}

export default createIntegration<Context>({
  events: {
    space_content_updated: async (event, context) => {
      const { installation, spaceInstallation } = context.environment;
      const url = spaceInstallation?.configuration.webhook_url || installation?.configuration.webhook_url;
      if (!url) return;
      const answer = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ text: await describe(event.spaceId, event.revisionId, context) }),
      });
      if (answer.ok) return;
      const said = `the webhook responded with ${answer.status}: ${(await answer.text()).slice(0, 200)}`;
      // After status 429 or 5xx, the event is delivered again later; other errors are final.
      const passes = answer.status === 429 || answer.status >= 500;
      throw new ExposableError(said, passes ? 429 : 400);
    },
  },
});
