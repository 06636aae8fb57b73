// Signs in the visitors of a site with OpenID Connect: the authorization code flow with PKCE, a nonce, and a signed
// state. Nothing is stored between the two requests: the data that both need is derived from the installation's signing
// secret.

import { createIntegration, ExposableError, type RuntimeContext, type RuntimeEnvironment } from "@gitbook/runtime";

import { base64url, fromBase64url, hmac, isSigned, readClaims, sha256, signToken } from "./tokens";

type Configuration = { issuer?: string; client_id?: string; client_secret?: string; scope?: string };
type Context = RuntimeContext<RuntimeEnvironment<object, Configuration>>;
type State = { location: string; nonce: string; expires: number };
type Provider = { issuer: string; authorization_endpoint: string; token_endpoint: string };

const CALLBACK = "/visitor-auth/response";
const SIGN_IN_SECONDS = 600;
const VISIT_SECONDS = 3600;
// Claims of the protocol, which conditions of pages don't need.
const PROTOCOL = new Set([
  "iss", "aud", "azp", "exp", "iat", "nbf", "nonce", "jti", "sid", "acr", "amr", "auth_time", "at_hash", "c_hash", "typ",
]);

const now = () => Math.floor(Date.now() / 1000);

function siteOf({ environment }: Context) {
  const site = environment.siteInstallation;
  const secret = environment.signingSecrets.siteInstallation;
  const { issuer, client_id: clientId } = site?.configuration ?? {};
  if (!site || !secret || !issuer || !clientId) throw new ExposableError("This sign-in is not configured yet.", 503);
  return { site, secret, issuer: issuer.replace(/\/$/, ""), clientId, configuration: site.configuration };
}

async function discover(issuer: string): Promise<Provider> {
  const answer = await fetch(`${issuer}/.well-known/openid-configuration`);
  if (!answer.ok) throw new ExposableError(`The provider's configuration couldn't be loaded (status ${answer.status}). Check the issuer.`, 502);
  const provider: Provider = await answer.json();
  if (provider.issuer.replace(/\/$/, "") !== issuer) throw new ExposableError("The provider's configuration names another issuer. Check the issuer.", 502);
  return provider;
}

const verifierOf = async (secret: string, state: State) => base64url(await hmac(secret, `pkce ${state.nonce}`));

async function sealed(secret: string, state: State): Promise<string> {
  const text = base64url(JSON.stringify(state));
  return `${text}.${base64url(await hmac(secret, `state ${text}`))}`;
}

async function opened(secret: string, sealedState: string): Promise<State> {
  const [text = "", signature = ""] = sealedState.split(".");
  if (!(await isSigned(secret, `state ${text}`, signature))) throw new ExposableError("This sign-in wasn't started here.");
  const state: State = JSON.parse(fromBase64url(text));
  if (state.expires < now()) throw new ExposableError("This sign-in took too long. Open the page again.");
  return state;
}

async function begin(location: string, context: Context): Promise<Response> {
  const { site, secret, issuer, clientId, configuration } = siteOf(context);
  const provider = await discover(issuer);
  const state = { location, nonce: crypto.randomUUID(), expires: now() + SIGN_IN_SECONDS };
  const address = new URL(provider.authorization_endpoint);
  const asked = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: site.urls.publicEndpoint + CALLBACK,
    scope: configuration.scope || "openid profile email",
    state: await sealed(secret, state),
    nonce: state.nonce,
    code_challenge: base64url(await sha256(await verifierOf(secret, state))),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
  return Response.redirect(address.href);
}

async function redeem(code: string, state: State, context: Context): Promise<Record<string, unknown>> {
  const { site, secret, issuer, clientId, configuration } = siteOf(context);
  const provider = await discover(issuer);
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri: site.urls.publicEndpoint + CALLBACK,
    client_id: clientId,
    code_verifier: await verifierOf(secret, state),
  });
  if (configuration.client_secret) body.set("client_secret", configuration.client_secret);
  const answer = await fetch(provider.token_endpoint, { method: "POST", body });
  const given = await answer.json().catch(() => ({}));
  if (!answer.ok || typeof given.id_token !== "string") {
    throw new ExposableError(`The provider rejected the sign-in: ${given.error ?? answer.status}`, 502);
  }
  // The signature isn't checked, because the token comes from the provider directly instead of through the browser, so
  // TLS already authenticates it (OpenID Connect Core, 3.1.3.7).
  const claims = readClaims(given.id_token);
  const audience = [claims.aud].flat();
  const wrong =
    claims.iss !== provider.issuer ||
    !audience.includes(clientId) ||
    claims.nonce !== state.nonce ||
    !(Number(claims.exp) > now());
  if (wrong) throw new ExposableError("The provider returned a token for another sign-in.", 502);
  return claims;
}

async function finish(request: Request, context: Context): Promise<Response> {
  const asked = new URL(request.url).searchParams;
  const { site, secret } = siteOf(context);
  const state = await opened(secret, asked.get("state") ?? "");
  const code = asked.get("code");
  if (!code) throw new ExposableError(`The provider didn't sign you in: ${asked.get("error") ?? "no code"}`, 403);
  const claims = await redeem(code, state, context);
  const said = Object.entries(claims).filter(([name]) => !PROTOCOL.has(name));
  const token = await signToken({ ...Object.fromEntries(said), exp: now() + VISIT_SECONDS }, secret);
  const organization = context.environment.installation!.target.organization;
  const { data: published } = await context.api.orgs.getSiteById(organization, site.site);
  const back = new URL(`${published.urls.published}${state.location}`);
  back.searchParams.set("jwt_token", token);
  return Response.redirect(back.href);
}

export default createIntegration<Context>({
  fetch_visitor_authentication: async (event, context) => begin(event.location ?? "", context),
  fetch: async (request, context) => {
    if (new URL(request.url).pathname.endsWith(CALLBACK)) return finish(request, context);
    throw new ExposableError("There is no page at this URL.", 404);
  },
});
