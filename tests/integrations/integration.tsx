import {
  createComponent, createIntegration, createOAuthHandler, ExposableError, Logger,
} from "@gitbook/runtime";

const logger = Logger("greetings");

const greeting = createComponent({
  componentId: "greeting",
  initialState: (props: { name?: string }) => ({ name: props.name ?? "nobody", times: 0 }),
  async action(element, action: { action: string }) {
    if (action.action === "again") return { state: { ...element.state, times: element.state.times + 1 } };
    return {};
  },
  async render(element, context) {
    const { name, times } = element.state;
    return (
      <block>
        <card title={`Hello ${name}`} onPress={{ action: "again" }}>
          <text>{`${times} times, said ${context.environment.integration.title}`}</text>
        </card>
      </block>
    );
  },
});

const encoded = (text: string | ArrayBuffer) => {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : new Uint8Array(text);
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

async function signed(claims: object, secret: string) {
  const head = encoded(JSON.stringify({ alg: "HS256", typ: "JWT" }));
  const text = `${head}.${encoded(JSON.stringify(claims))}`;
  const way = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), way, false, ["sign"]);
  return `${text}.${encoded(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)))}`;
}

export default createIntegration({
  fetch_visitor_authentication: async (event, context) => {
    const callback = `${context.environment.siteInstallation?.urls.publicEndpoint}/visitor-auth/response`;
    const provider = new URL("https://idp.example.com/authorize");
    provider.searchParams.set("redirect_uri", callback);
    provider.searchParams.set("state", event.location ?? "");
    return Response.redirect(provider.toString());
  },
  fetch_published_script: async (event) =>
    new Response(`console.log("on ${event.siteId}")`, { headers: { "content-type": "application/javascript" } }),
  components: [greeting],
  events: {
    installation_setup: async (event, context) => {
      logger.info(`installed as ${event.status} in ${context.environment.installation?.target.organization}`);
    },
  },
  task: async (task: any) => {
    logger.info(`task ${JSON.stringify(task)}`);
  },
  fetch: async (request, context) => {
    const url = new URL(request.url);
    if (url.pathname.endsWith("/visitor-auth/response")) {
      const { installation, siteInstallation, signingSecrets } = context.environment;
      const organization = installation!.target.organization;
      const { data: site } = await context.api.orgs.getSiteById(organization, siteInstallation!.site);
      const claims = { sub: "ada", exp: Math.floor(Date.now() / 1000) + 3600 };
      const back = new URL(`${site.urls.published}${url.searchParams.get("state") ?? ""}`);
      back.searchParams.set("jwt_token", await signed(claims, signingSecrets.siteInstallation!));
      return Response.redirect(back.toString());
    }
    const base = context.environment.spaceInstallation?.urls.publicEndpoint ?? "";
    if (url.pathname === `${new URL(base).pathname}/refuse`) throw new ExposableError("not here", 403);
    const { data } = await context.api.spaces.getSpaceById(context.environment.spaceInstallation!.space);
    await context.integration.queueTask({ task: { greet: data.title } });
    return new Response(`${request.method} ${data.title} ${await request.text()}`);
  },
});
void createOAuthHandler;
