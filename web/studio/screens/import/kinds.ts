/** Kinds of problems of imports, by their code: what they are called, and what follows from them. */
import { t } from "../../../shared/words.ts";

interface Kind {
  title: string;
  /** What readers see, or what to do about it. */
  then: string;
}

const KINDS: Record<string, Kind> = {
  kept_by_people: {
    title: t("Places that people changed as well"),
    then: t("What they wrote stays. Look whether it still fits."),
  },
  broken_link: {
    title: t("Links that lead nowhere in the source"),
    then: t("They lead nowhere here either. Mend them on the page."),
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
  navigation_unread: {
    title: t("Navigation that only a program knows"),
    then: t("The tree is that of the folders."),
  },
  redirect_left_out: { title: t("Redirects that lead to no page"), then: t("They are left out.") },
  versions_left_out: {
    title: t("Other versions"),
    then: t("They are left out. Import their folder by itself."),
  },
  translations_left_out: {
    title: t("Translations"),
    then: t("They are left out. Import their folder by itself."),
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
    then: t("Markdown, HTML, Word and archives of these are read."),
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
  more_problems: { title: t("More of them"), then: "" },
};

export const kindOf = (code: string): Kind => KINDS[code] ?? { title: code.replaceAll("_", " "), then: "" };
