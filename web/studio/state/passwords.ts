/** Return the strength of a new password: 0 if it is empty, otherwise 1 (weak) to 4 (strong). The server decides
 * whether it is accepted. */
export function measurePassword(password: string): number {
  if (!password) return 0;
  const different = new Set(password.toLowerCase()).size;
  const kinds =
    [/\p{Ll}/u, /\p{Lu}/u, /\p{N}/u, /[^\p{L}\p{N}]/u].filter((kind) => kind.test(password)).length;
  if (password.length < 10 || different < 5) return 1;
  return 2 + Number(password.length >= 14 && different >= 8) + Number(password.length >= 18 || kinds >= 3);
}
