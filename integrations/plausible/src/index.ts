// Counts page views with the events API of Plausible: https://plausible.io/docs/events-api

import { createIntegration, type RuntimeContext, type RuntimeEnvironment } from "@gitbook/runtime";

import countViews from "./count-views.raw.js";

type Configuration = { domain?: string; server?: string };
type Context = RuntimeContext<RuntimeEnvironment<object, Configuration>>;

export default createIntegration<Context>({
  fetch_published_script: async (_, { environment }) => {
    const { domain, server } = environment.siteInstallation?.configuration ?? {};
    if (!domain) return undefined;
    const told = JSON.stringify({ domain, api: new URL("/api/event", server || "https://plausible.io").href });
    return new Response(`${countViews.trim()}(${told});`, {
      headers: { "content-type": "application/javascript", "cache-control": "max-age=300" },
    });
  },
});
