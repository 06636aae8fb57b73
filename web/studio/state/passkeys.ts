/** Passkeys of this browser: what WebAuthn makes of the server's options, as the API takes it. */
import type { Schemas } from "../../shared/client.ts";

/** Whether this browser makes passkeys at this address: not where the address is not safe. */
export const hasPasskeys = (): boolean =>
  typeof PublicKeyCredential !== "undefined" && "parseCreationOptionsFromJSON" in PublicKeyCredential;

/** Makes a passkey. Undefined where the person let it be. */
export async function makePasskey(
  options: Record<string, unknown>,
): Promise<Schemas["MadeCredential"] | undefined> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  try {
    const made = await navigator.credentials.create({ publicKey }) as PublicKeyCredential | null;
    if (!made) return undefined;
    const { id, response } = made.toJSON() as { id: string; response: Record<string, string> };
    const { clientDataJSON = "", attestationObject = "" } = response;
    return { id, response: { clientDataJSON, attestationObject } };
  } catch (problem) {
    if (problem instanceof DOMException && problem.name === "NotAllowedError") return undefined;
    throw problem;
  }
}
