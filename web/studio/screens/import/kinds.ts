/** The kinds of import problems by code: their names and effects. */
import { t } from "../../../shared/words.ts";

interface Kind {
  title: string;
  /** What readers see, or how to fix it. */
  then: string;
}

const SPECIAL: Kind = {
  title: t("symbolicLinksSubmodulesAndOther"),
  then: t("theyWereSkipped"),
};
const UNREADABLE: Kind = { title: t("unreadableFiles"), then: t("theyWereSkipped") };
const UNREAD_LINE: Kind = {
  title: t("unreadableNavigationEntries"),
  then: t("theyWereSkipped"),
};
const UNUSUAL_LINE: Kind = {
  title: t("unclearNavigationEntries"),
  then: t("importedUsingMostLikelyMeaning"),
};
const LEADS_NOWHERE: Kind = {
  title: t("navigationEntriesWithoutTarget"),
  then: t("keptAsPlainText"),
};
const BAD_VALUE: Kind = { title: t("settingsWithInvalidValues"), then: t("theyHaveNoEffect") };

const KINDS: Record<string, Kind> = {
  kept_by_people: {
    title: t("contentAlsoEditedHere"),
    then: t("editsMadeHereAreKept"),
  },
  broken_link: {
    title: t("brokenLinksInSource"),
    then: t("theyDontWorkHereEither"),
  },
  other_variant: {
    title: t("linksToOtherVersions"),
    then: t("theyWerentImported"),
  },
  unknown_component: {
    title: t("unsupportedComponents"),
    then: t("theirContentIsShown"),
  },
  unknown_shortcode: {
    title: t("unsupportedShortcodes"),
    then: t("theirContentIsShown"),
  },
  unknown_directive: {
    title: t("unsupportedDirectives"),
    then: t("theirContentIsShown"),
  },
  unknown_container: {
    title: t("unsupportedContainers"),
    then: t("theirContentIsShown"),
  },
  expression_left_out: {
    title: t("valuesOnlyKnownWhenSite"),
    then: t("theyWereKeptAsWritten"),
  },
  variable: {
    title: t("valuesOnlyKnownWhenSite"),
    then: t("theyWereKeptAsWritten"),
  },
  script_left_out: { title: t("scripts"), then: t("theyArentRunHere") },
  code_reference: {
    title: t("documentationGeneratedFromCode"),
    then: t("itWasSkippedBecauseSource"),
  },
  format_left_out: {
    title: t("pagesInUnsupportedFormats"),
    then: t("theyWereSkippedImportHtml"),
  },
  circular_include: {
    title: t("circularIncludes"),
    then: t("readersSeeNothing"),
  },
  look_left_out: {
    title: t("logosAndColorsThatNo"),
    then: t("setThemInCustomization"),
  },
  navigation_unread: {
    title: t("navigationGeneratedByCode"),
    then: t("pageTreeFollowsFolderStructure"),
  },
  redirect_left_out: { title: t("redirectsWithoutTargetPage"), then: t("theyWereSkipped") },
  versions_left_out: {
    title: t("otherVersions"),
    then: t("theyWereSkippedImportSource"),
  },
  translations_left_out: {
    title: t("translations"),
    then: t("theyWereSkippedImportSource"),
  },
  blog_left_out: { title: t("blog"), then: t("theyWereSkippedImport") },
  pages_left_out: {
    title: t("pagesBuiltFromComponents"),
    then: t("theyWereSkippedImport"),
  },
  api_left_out: {
    title: t("apiReferencePages"),
    then: t("theyWereSkippedAddApi"),
  },
  not_listed: {
    title: t("notListedInSummaryMd"),
    then: t("keptAsFilesLink"),
  },
  listed_twice: {
    title: t("listedTwice"),
    then: t("laterEntryWasConverted"),
  },
  missing_file: {
    title: t("missingFiles"),
    then: t("readersSeeNothingInTheirPlaceAdd"),
  },
  missing_include: {
    title: t("missingIncludedFiles"),
    then: t("readersSeeNothingFileToo"),
  },
  missing_part: {
    title: t("missingIncludedParts"),
    then: t("wholeFileWasIncluded"),
  },
  no_readme: {
    title: t("noStandardHomePage"),
    then: t("firstPageIsHomePage"),
  },
  front_matter: {
    title: t("invalidFrontMatter"),
    then: t("itWasIgnored"),
  },
  unreadable_block: {
    title: t("blocksThatCouldntBeRead"),
    then: t("theirSourceCodeIsShown"),
  },
  paid_icon: { title: t("iconsFromPaidSets"), then: t("closestFreeIconIsUsed") },
  unclosed_tag: {
    title: t("unclosedTags"),
    then: t("theirContentIsShown"),
  },
  unread_bold: {
    title: t("boldTextWithSpaceBefore"),
    then: t("asterisksAreShownAsText"),
  },
  too_many_parts: { title: t("pagesWithTooManyElements"), then: t("restIsShownAsSource") },
  unknown_space: {
    title: t("linksToSpacesThatDont"),
    then: t("readersSeeTextWithoutLink"),
  },
  invalid_yaml: {
    title: t("unreadableConfiguration"),
    then: t("defaultValuesAreUsed"),
  },
  unknown_key: { title: t("unsupportedSettings"), then: t("theyHaveNoEffect") },
  invalid_utf8: { title: t("unsupportedTextEncoding"), then: t("keptAsFilesSaveThem") },
  too_large: { title: t("filesLargerThan100Mb"), then: t("theyWereSkipped") },
  not_converted: { title: t("unreadableDocuments"), then: t("keptAsFiles") },
  unknown_format: {
    title: t("unsupportedFiles"),
    then: t("supportedFormatsMarkdownHtmlWord"),
  },
  unsafe_path: { title: t("pathsOutsideArchive"), then: t("theyWereSkipped") },
  missing_image: {
    title: t("missingImages"),
    then: t("readersSeeNothingInTheirPlace"),
  },
  image_left_out: { title: t("unsupportedImages"), then: t("theyWereSkipped") },
  robots: { title: t("pagesBlockedByRobotsTxt"), then: t("theyWereSkipped") },
  redirected: { title: t("urlsThatRedirectElsewhere"), then: t("theyWereSkipped") },
  not_fetched: {
    title: t("urlsThatDidntRespond"),
    then: t("theyWereSkippedTryImporting"),
  },
  page_limit: { title: t("moreThan5000Pages"), then: t("importRestStartingFromDeeper") },
  limit: { title: t("limitReached"), then: t("restWasSkipped") },
  image_limit: { title: t("tooManyImages"), then: t("restWasSkipped") },
  unclear_markup: { title: t("ambiguousMarkup"), then: t("checkThatPageReadsWell") },
  comments_left_out: { title: t("commentsInSource"), then: t("theyWereSkipped") },
  left_out: { title: t("contentThatCantBeCreated"), then: t("theyWereSkipped") },
  tracked_changes: {
    title: t("trackedChanges"),
    then: t("insertionsWereKeptAndDeletions"),
  },
  word: {
    title: t("unsupportedElementsInWordDocuments"),
    then: t("checkThatPageReadsWell"),
  },
  symlink: SPECIAL,
  submodule: SPECIAL,
  special_file: SPECIAL,
  encrypted: UNREADABLE,
  unreadable: UNREADABLE,
  unknown_compression: UNREADABLE,
  duplicate_name: { title: t("duplicateFileNames"), then: t("laterOneWasSkipped") },
  unreadable_table: {
    title: t("tablesThatCantBeRead"),
    then: t("restWasSkipped"),
  },
  too_many_lines: { title: t("pagesWithTooManyLines"), then: t("restWasSkipped") },
  too_long: { title: t("paragraphsThatAreTooLong"), then: t("theyWereKeptAsWritten") },
  page_too_large: { title: t("pagesThatAreTooLarge"), then: t("keptAsFiles") },
  unread_condition: {
    title: t("unreadableConditions"),
    then: t("noOneSeesAffectedContent"),
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
  empty_summary: { title: t("navigationWithoutPages"), then: "" },
  missing_root: {
    title: t("folderFromConfigurationNotFound"),
    then: t("entireSourceIsRead"),
  },
  invalid_configuration: {
    title: t("unreadableConfiguration"),
    then: t("defaultValuesAreUsed"),
  },
  bad_path: BAD_VALUE,
  bad_redirect: BAD_VALUE,
  bad_tag: BAD_VALUE,
  bad_value: BAD_VALUE,
  bad_variable: BAD_VALUE,
  more_problems: { title: t("moreProblems"), then: "" },
};

export const kindOf = (code: string): Kind => KINDS[code] ?? { title: code.replaceAll("_", " "), then: "" };
