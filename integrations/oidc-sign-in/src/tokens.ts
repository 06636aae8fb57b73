// The parts of JSON Web Tokens that a sign-in needs.

const encoder = new TextEncoder();

export function base64url(value: string | ArrayBuffer): string {
  const bytes = typeof value === "string" ? encoder.encode(value) : new Uint8Array(value);
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const bytesOf = (text: string) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

export const fromBase64url = (text: string) => new TextDecoder().decode(bytesOf(text));

export const sha256 = (text: string) => crypto.subtle.digest("SHA-256", encoder.encode(text));

const HMAC = { name: "HMAC", hash: "SHA-256" };

const keyOf = (secret: string) =>
  crypto.subtle.importKey("raw", encoder.encode(secret), HMAC, false, ["sign", "verify"]);

export const hmac = async (secret: string, text: string) =>
  crypto.subtle.sign("HMAC", await keyOf(secret), encoder.encode(text));

export async function isSigned(secret: string, text: string, signature: string): Promise<boolean> {
  try {
    return await crypto.subtle.verify("HMAC", await keyOf(secret), bytesOf(signature), encoder.encode(text));
  } catch {
    return false; // The signature isn't valid base64.
  }
}

export async function signToken(claims: object, secret: string): Promise<string> {
  const text = `${base64url(JSON.stringify({ alg: "HS256", typ: "JWT" }))}.${base64url(JSON.stringify(claims))}`;
  return `${text}.${base64url(await hmac(secret, text))}`;
}

export function readClaims(token: string): Record<string, unknown> {
  return JSON.parse(fromBase64url(token.split(".")[1] ?? ""));
}
