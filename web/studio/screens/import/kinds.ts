/** Kinds of problems of imports, by their code: what they are called, and what follows from them. */
import { t } from "../../../shared/words.ts";

interface Kind {
  title: string;
  /** What readers see, or what to do about it. */
  then: string;
}

const SPECIAL: Kind = {
  title: t("Links, submodules and other special files"),
  then: t("They are left out."),
};
const UNREADABLE: Kind = { title: t("Files that cannot be read"), then: t("They are left out.") };
const UNREAD_LINE: Kind = {
  title: t("Lines of the navigation that cannot be read"),
  then: t("They are left out."),
};
const UNUSUAL_LINE: Kind = {
  title: t("Unusual lines of the navigation"),
  then: t("Read as what they most likely mean. Look at the tree of pages."),
};
const LEADS_NOWHERE: Kind = {
  title: t("Entries of the navigation that lead nowhere"),
  then: t("Kept as words. Give them a target."),
};
const BAD_VALUE: Kind = { title: t("Settings with values that cannot be"), then: t("They have no effect.") };

const KINDS: Record<string, Kind> = {
  kept_by_people: {
    title: t("Places that people changed as well"),
    then: t("What they wrote stays. Look whether it still fits."),
  },
  broken_link: {
    title: t("Links that lead nowhere in the source"),
    then: t("They lead nowhere here either. Mend them on the page."),
  },
  other_variant: {
    title: t("Links to other versions and languages"),
    then: t("These do not come along. Bring the source in with all versions and languages."),
  },
  unknown_component: {
    title: t("Components that mean nothing here"),
    then: t("What is in them is shown. Look whether the page reads well."),
  },
  unknown_shortcode: {
    title: t("Shortcodes that mean nothing here"),
    then: t("What is in them is shown. Look whether the page reads well."),
  },
  unknown_directive: {
    title: t("Directives that mean nothing here"),
    then: t("What is in them is shown. Look whether the page reads well."),
  },
  unknown_container: {
    title: t("Containers that mean nothing here"),
    then: t("What is in them is shown. Look whether the page reads well."),
  },
  expression_left_out: {
    title: t("Values that are only known when the site is built"),
    then: t("They stay as they are written."),
  },
  variable: {
    title: t("Values that are only known when the site is built"),
    then: t("They stay as they are written."),
  },
  script_left_out: { title: t("Scripts"), then: t("What they do is not done here.") },
  code_reference: {
    title: t("Documentation that is made of code"),
    then: t("It is left out, as the source does not hold it."),
  },
  format_left_out: {
    title: t("Pages in formats that are not read"),
    then: t("They are left out. Import what they are built to, as HTML."),
  },
  circular_include: {
    title: t("Files that include themselves"),
    then: t("Readers see nothing in their place."),
  },
  look_left_out: {
    title: t("Logos and colors that no site gets"),
    then: t("Set them in the customization of the site."),
  },
  navigation_unread: {
    title: t("Navigation that only a program knows"),
    then: t("The tree is that of the folders."),
  },
  redirect_left_out: { title: t("Redirects that lead to no page"), then: t("They are left out.") },
  versions_left_out: {
    title: t("Other versions"),
    then: t("They are left out. Bring the source in with all versions and languages."),
  },
  translations_left_out: {
    title: t("Translations"),
    then: t("They are left out. Bring the source in with all versions and languages."),
  },
  blog_left_out: { title: t("A blog"), then: t("They are left out. Import their folder by itself.") },
  pages_left_out: {
    title: t("Pages made of components"),
    then: t("They are left out. Import their folder by itself."),
  },
  api_left_out: {
    title: t("Pages of an API description"),
    then: t("They are left out. Add the API description to the organization."),
  },
  not_listed: {
    title: t("Not listed in SUMMARY.md"),
    then: t("Kept as files; link them, or add pages for them."),
  },
  listed_twice: {
    title: t("Listed twice"),
    then: t("The later entry became a link to the page."),
  },
  missing_file: {
    title: t("Files that are not there"),
    then: t("Readers see nothing in their place. Add the file, or take its mention out."),
  },
  missing_include: {
    title: t("Included files that are not there"),
    then: t("Readers see nothing in their place. Write the text into the page, or import the file too."),
  },
  no_readme: {
    title: t("No home page of the usual name"),
    then: t("The first page is the home page."),
  },
  front_matter: {
    title: t("Front matter that cannot be read"),
    then: t("It has no effect. Set title, description and cover on the page."),
  },
  unreadable_block: {
    title: t("Blocks that could not be read"),
    then: t("Their source is shown. Write them anew on the page."),
  },
  paid_icon: { title: t("Icons of sets that are not free"), then: t("The nearest free one is drawn.") },
  unclosed_tag: {
    title: t("Tags without their end"),
    then: t("What is inside is shown. Look whether the page reads well."),
  },
  unread_bold: {
    title: t("Bold text with a space before its end"),
    then: t("Its asterisks are shown. Move the space behind them."),
  },
  too_many_parts: { title: t("Pages with too many parts"), then: t("The rest is shown as its source.") },
  unknown_space: {
    title: t("Links to spaces that are not here"),
    then: t("Readers see the words without a link."),
  },
  invalid_yaml: {
    title: t("Configuration that cannot be read"),
    then: t("The usual values count."),
  },
  unknown_key: { title: t("Settings that mean nothing here"), then: t("They have no effect.") },
  invalid_utf8: { title: t("Text in another encoding"), then: t("Kept as files. Save them as UTF-8.") },
  too_large: { title: t("Files over 100 MB"), then: t("They are left out.") },
  not_converted: { title: t("Documents that cannot be read"), then: t("Kept as files.") },
  unknown_format: {
    title: t("Files of other kinds"),
    then: t("Markdown, HTML, Word, OpenDocument and archives of these are read."),
  },
  unsafe_path: { title: t("Paths that lead out of the archive"), then: t("They are left out.") },
  missing_image: {
    title: t("Images that are not there"),
    then: t("Readers see nothing in their place. Add the image on the page."),
  },
  image_left_out: { title: t("Images of no known format"), then: t("They are left out.") },
  robots: { title: t("Pages that robots.txt does not allow"), then: t("They are left out.") },
  redirected: { title: t("Addresses that lead elsewhere"), then: t("They are left out.") },
  not_fetched: {
    title: t("Addresses that did not answer"),
    then: t("They are left out. Import again when they do."),
  },
  page_limit: { title: t("More than 5,000 pages"), then: t("Import the rest from an address further down.") },
  limit: { title: t("A limit was reached"), then: t("The rest is left out.") },
  image_limit: { title: t("Too many images"), then: t("The rest is left out.") },
  unclear_markup: { title: t("Markup that is not clear"), then: t("Look whether the page reads well.") },
  comments_left_out: { title: t("Comments of the source"), then: t("They are left out.") },
  left_out: { title: t("Parts that cannot be made here"), then: t("They are left out.") },
  tracked_changes: {
    title: t("Tracked changes"),
    then: t("Insertions are taken, deletions are left out."),
  },
  word: {
    title: t("Parts of Word documents that mean nothing here"),
    then: t("Look whether the page reads well."),
  },
  symlink: SPECIAL,
  submodule: SPECIAL,
  special_file: SPECIAL,
  encrypted: UNREADABLE,
  unreadable: UNREADABLE,
  unknown_compression: UNREADABLE,
  duplicate_name: { title: t("Two files of one name"), then: t("The later one is left out.") },
  unreadable_table: {
    title: t("Tables that cannot be read to their end"),
    then: t("The rest is left out."),
  },
  too_many_lines: { title: t("Pages with too many lines"), then: t("The rest is left out.") },
  too_long: { title: t("Paragraphs that are too long"), then: t("They stay as they are written.") },
  page_too_large: { title: t("Pages that are too large"), then: t("Kept as files.") },
  unread_condition: {
    title: t("Conditions that cannot be read"),
    then: t("Nobody sees what they are meant for. Write them anew on the page."),
  },
  empty_item: UNREAD_LINE,
  invalid_computed: UNREAD_LINE,
  long_line: UNREAD_LINE,
  unclosed_block: UNREAD_LINE,
  unread_block: UNREAD_LINE,
  unread_line: UNREAD_LINE,
  unread_text: UNREAD_LINE,
  case_differs: UNUSUAL_LINE,
  empty_title: UNUSUAL_LINE,
  heading_level: UNUSUAL_LINE,
  link_with_children: UNUSUAL_LINE,
  too_deep: UNUSUAL_LINE,
  unclosed_comment: UNUSUAL_LINE,
  anchor_only: LEADS_NOWHERE,
  bad_target: LEADS_NOWHERE,
  empty_target: LEADS_NOWHERE,
  empty_summary: { title: t("Navigation without any page"), then: "" },
  missing_root: {
    title: t("A folder of the configuration that is not there"),
    then: t("The whole source is read."),
  },
  invalid_configuration: {
    title: t("Configuration that cannot be read"),
    then: t("The usual values count."),
  },
  bad_path: BAD_VALUE,
  bad_redirect: BAD_VALUE,
  bad_tag: BAD_VALUE,
  bad_value: BAD_VALUE,
  bad_variable: BAD_VALUE,
  more_problems: { title: t("More of them"), then: "" },
};

export const kindOf = (code: string): Kind => KINDS[code] ?? { title: code.replaceAll("_", " "), then: "" };
