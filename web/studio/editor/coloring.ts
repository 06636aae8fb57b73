/**
 * Colors code while typing: keywords of many languages, strings, numbers, and comments. Published pages are
 * highlighted by the server, which knows each language; this code must be fast enough for typing.
 */
import type { Node } from "prosemirror-model";

const KEYWORDS = new Set(
  ("abstract as async await begin bool boolean break byte case catch char class const constexpr continue def default defer del delete do " +
    "double elif else elseif end enum except explicit export extends extern false False final finally float fn for foreach from func " +
    "function global go goto if implements import in include inline int interface internal is lambda let long match mod module move mut " +
    "namespace native new nil None not null Null operator or and override package pass private protected pub public raise readonly ref " +
    "return self Self sealed select short signed sizeof static string struct super switch synchronized template then this throw throws " +
    "trait true True try type typedef typeof uint undefined union unless unsafe unsigned until use using val var virtual void volatile " +
    "when where while with yield SELECT FROM WHERE INSERT INTO UPDATE DELETE CREATE TABLE JOIN LEFT INNER ON AND OR NOT NULL SET VALUES " +
    "ORDER BY GROUP LIMIT AS PRIMARY KEY ALTER DROP INDEX echo export sudo cd").split(" "),
);

/** Languages whose comments start with `#`, those whose comments start with `--`, and those without line comments. */
const HASH =
  /^(bash|sh|shell|zsh|console|py(thon)?|rb|ruby|ya?ml|toml|r|perl|elixir|docker(file)?|makefile|ini|powershell|ps1|hcl|terraform|nginx|conf|graphql)$/;
const DASHES = /^(sql|lua|haskell|hs)$/;
const MARKUP = /^(html|xml|svg|vue|svelte|markdown|md)$/;
const PLAIN = /^(|text|txt|plaintext|none|mermaid)$/;

interface Token {
  from: number;
  to: number;
  kind: string;
}

/** Return the colored parts of a line. Block comments are colored if they start and end on one line. */
export function tokens(line: string, syntax: string): Token[] {
  const language = syntax.toLowerCase();
  if (PLAIN.test(language) || line.length > 2000) return [];
  if (language === "diff") {
    const kind = line.startsWith("+")
      ? "gi"
      : line.startsWith("-")
      ? "gd"
      : line.startsWith("@@")
      ? "gu"
      : "";
    return kind ? [{ from: 0, to: line.length, kind }] : [];
  }
  const comment = HASH.test(language)
    ? "(?:^|(?<=\\s))#.*"
    : DASHES.test(language)
    ? "--.*"
    : MARKUP.test(language)
    ? "<!--.*?(?:-->|$)"
    : "\\/\\/.*|\\/\\*.*?(?:\\*\\/|$)";
  const word = MARKUP.test(language) ? "<\\/?[\\w:-]+|\\/?>|[\\w:-]+(?==)" : "[A-Za-z_$][\\w$]*";
  const pattern = new RegExp(
    `(${comment})|("(?:[^"\\\\]|\\\\.)*"?|'(?:[^'\\\\]|\\\\.)*'?|\`(?:[^\`\\\\]|\\\\.)*\`?)|(\\b\\d[\\w.]*\\b)|(${word})`,
    "g",
  );
  const found: Token[] = [];
  for (const match of line.matchAll(pattern)) {
    const from = match.index;
    const to = from + match[0].length;
    let kind = "";
    if (match[1] !== undefined) kind = "c";
    else if (match[2] !== undefined) kind = /^\s*:/.test(line.slice(to)) && language === "json" ? "nt" : "s";
    else if (match[3] !== undefined) kind = "m";
    else if (MARKUP.test(language)) kind = /^[</>]/.test(match[0]) ? "nt" : "nf";
    else if (KEYWORDS.has(match[0])) kind = "k";
    else if (/^ya?ml$/.test(language) && /^\s*:(\s|$)/.test(line.slice(to))) kind = "nt";
    else if (line[to] === "(") kind = "nf";
    if (kind) found.push({ from, to, kind });
  }
  return found;
}

const known = new WeakMap<Node, { syntax: string; tokens: Token[] }>();

/** Return the colored parts of a line of code; none if it contains more than text, such as a formula. */
export function colorsOf(line: Node, syntax: string): Token[] {
  if (PLAIN.test(syntax.toLowerCase()) || line.content.size !== line.textContent.length) return [];
  let kept = known.get(line);
  if (kept?.syntax !== syntax) known.set(line, kept = { syntax, tokens: tokens(line.textContent, syntax) });
  return kept.tokens;
}
