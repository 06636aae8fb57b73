/** The options of a page, as edited in a form and as sent in an edit. */
import type { PageField } from "../../generated/page-fields.ts";
import type { Schemas } from "../../shared/client.ts";
import { changed } from "../state/form.svelte.ts";
import type { Page } from "../state/page.svelte.ts";
import type { PageFields, TreeEditor } from "../state/treeEditor.ts";
import type { CoverValue } from "./CoverField.svelte";
import { codeOf, emojiOf } from "./emojiCode.ts";

interface Pair {
  name: string;
  value: string;
}
/** The related links of a page, as in its Markdown. */
export interface MetaLinks {
  canonical: string;
  alternates: string[];
}
export type OptionValue =
  | string
  | boolean
  | readonly string[]
  | readonly Pair[]
  | Schemas["PageLayout"]
  | CoverValue
  | MetaLinks
  | undefined;
export type Options = Record<string, OptionValue>;

type Scalar = string | number | boolean | null;
const isScalar = (value: unknown): value is string | number | boolean =>
  ["string", "number", "boolean"].includes(typeof value);

/** Return the value of each field in the form. Variables that are lists or objects can't be edited, and stay
 * unchanged. */
export function optionsOf(page: Page, fields: readonly PageField[]): Options {
  return Object.fromEntries(
    fields.map(({ name, type }): [string, OptionValue] => {
      const value: unknown = page[name as keyof Page];
      switch (type) {
        case "flag":
          return [name, value === true];
        case "tags":
          return [name, (value as Schemas["PageTag"][] | undefined ?? []).map((one) => one.tag.tag)];
        case "paths":
          return [name, value as string[] | undefined ?? []];
        case "mapping": {
          const all = Object.entries(value as Record<string, unknown> | undefined ?? {});
          return [
            name,
            all.filter(([, one]) => isScalar(one)).map(([key, one]) => ({ name: key, value: String(one) })),
          ];
        }
        case "links": {
          const { canonical, alternates } = value as Schemas["GivenMetaLinks"] | undefined ?? {};
          return [name, { canonical: canonical ?? "", alternates: alternates ?? [] }];
        }
        case "layout":
          return [name, { ...value as Schemas["PageLayout"] }];
        case "cover": {
          const cover = value as Schemas["PageCover"] | undefined;
          if (!cover?.ref) return [name, undefined];
          const { ref, refDark, yPos, height, textColor, textColorDark } = cover;
          return [name, { light: ref, dark: refDark, y: yPos ?? 0, height, textColor, textColorDark }];
        }
        case "emoji":
          return [name, emojiOf(value as string | undefined)];
        default:
          return [name, value as string | undefined ?? ""];
      }
    }),
  );
}

/** Convert text to the type of the variable that it replaces, if possible. */
function typed(text: string, before: unknown): Scalar {
  if (typeof before === "number" && text.trim() && Number.isFinite(Number(text))) return Number(text);
  if (typeof before === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

/** Return the changed variables and their previous values. A value of null means none. */
function variables(page: Page, value: readonly Pair[]): [Record<string, Scalar>, Record<string, Scalar>] {
  const had = page.variables ?? {};
  const given = Object.fromEntries(
    value.filter(({ name }) => name.trim()).map((
      { name, value },
    ) => [name.trim(), typed(value, had[name.trim()])]),
  );
  const names = Object.keys({ ...had, ...given }).filter((name) =>
    name in given ? given[name] !== had[name] : isScalar(had[name])
  );
  const before = (name: string) => isScalar(had[name]) ? had[name] : null;
  return [
    Object.fromEntries(names.map((name) => [name, before(name)])),
    Object.fromEntries(names.map((name) => [name, given[name] ?? null])),
  ];
}

/** Return a reference to an image for an edit. A new file is uploaded first. */
async function imageOf(
  editor: TreeEditor,
  image: CoverValue["light"],
): Promise<Schemas["GivenCover"]["ref"]> {
  if (image instanceof File) return { kind: "file", file: await editor.uploadFile(image) };
  const { kind, file, url } = image as { kind: string; file?: string; url?: string };
  return kind === "file" && file ? { kind: "file", file } : { kind: "url", url: url ?? "" };
}

async function coverOf(
  editor: TreeEditor,
  value: CoverValue | undefined,
): Promise<Schemas["GivenCover"] | null> {
  if (!value) return null;
  return {
    ref: await imageOf(editor, value.light),
    ...(value.dark ? { refDark: await imageOf(editor, value.dark) } : {}),
    yPos: value.y,
    ...(value.height ? { height: value.height } : {}),
    ...(value.textColor ? { textColor: value.textColor } : {}),
    ...(value.textColorDark ? { textColorDark: value.textColorDark } : {}),
  };
}

const tagsOf = (page: Page, names: readonly string[]): Schemas["GivenPageTag"][] =>
  names.map((tag) => ({
    tag: { kind: "tag", tag },
    // Tags that are shown in the navigation stay there.
    primary: page.tags?.some((one) => one.primary && one.tag.tag === tag) ?? false,
  }));

const linksOf = ({ canonical, alternates }: MetaLinks): Schemas["GivenMetaLinks"] => ({
  canonical: canonical.trim() || null,
  alternates,
});

/** Return the changed fields for an edit, with their previous values and their new ones. Uploads new images. */
export async function sentOptions(
  editor: TreeEditor,
  page: Page,
  began: Options,
  now: Options,
): Promise<[before: PageFields, after: PageFields]> {
  const before: Record<string, unknown> = {};
  const after: Record<string, unknown> = {};
  const files = (now.cover as CoverValue | undefined)?.light instanceof File ||
    (now.cover as CoverValue | undefined)?.dark instanceof File;
  for (const name of [...Object.keys(changed(began, now)), ...(files ? ["cover"] : [])]) {
    if (name in after) continue;
    if (name === "tags") {
      [before[name], after[name]] = [began, now].map((one) => tagsOf(page, one[name] as string[]));
    } else if (name === "emoji") {
      [before[name], after[name]] = [began, now].map((one) => codeOf(one[name] as string));
    } else if (name === "variables") {
      [before[name], after[name]] = variables(page, now[name] as Pair[]);
    } else if (name === "metaLinks") {
      [before[name], after[name]] = [began, now].map((one) => linksOf(one[name] as MetaLinks));
    } else if (name === "layout") {
      const options = changed(began[name] as Schemas["PageLayout"], now[name] as Schemas["PageLayout"]);
      after[name] = options;
      before[name] = Object.fromEntries(
        Object.keys(options).map((one) => [one, page.layout[one as keyof Schemas["PageLayout"]]]),
      );
    } else if (name === "cover") {
      before[name] = await coverOf(editor, began[name] as CoverValue | undefined);
      after[name] = await coverOf(editor, now[name] as CoverValue | undefined);
    } else [before[name], after[name]] = [began[name], now[name]];
  }
  return [before as PageFields, after as PageFields];
}
