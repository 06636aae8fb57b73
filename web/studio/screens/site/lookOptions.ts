/** What can be chosen for the look of a site. */
import { t } from "../../../shared/words.ts";

export const THEMES = [["clean", t("clean")], ["muted", t("muted")], ["bold", t("bold")], [
  "gradient",
  t("gradient"),
]] as const;
export const FONTS = [
  ["Inter", "Inter"],
  ["ABCFavorit", "ABC Favorit"],
  ["FiraSans", "Fira Sans"],
  ["IBMPlexSerif", "IBM Plex Serif"],
  ["Lato", "Lato"],
  ["Merriweather", "Merriweather"],
  ["NotoSans", "Noto Sans"],
  ["OpenSans", "Open Sans"],
  ["Overpass", "Overpass"],
  ["Poppins", "Poppins"],
  ["Raleway", "Raleway"],
  ["Roboto", "Roboto"],
  ["RobotoSlab", "Roboto Slab"],
  ["SourceSansPro", "Source Sans"],
  ["Ubuntu", "Ubuntu"],
] as const;
export const CODE_FONTS = [
  ["JetBrainsMono", "JetBrains Mono"],
  ["DMMono", "DM Mono"],
  ["FiraCode", "Fira Code"],
  ["IBMPlexMono", "IBM Plex Mono"],
  ["Inconsolata", "Inconsolata"],
  ["RobotoMono", "Roboto Mono"],
  ["SourceCodePro", "Source Code Pro"],
  ["SpaceMono", "Space Mono"],
] as const;
export const LOCALES = [
  ["en", "English"],
  ["de", "Deutsch"],
  ["es", "Español"],
  ["fr", "Français"],
  ["ja", "日本語"],
  ["nl", "Nederlands"],
  ["no", "Norsk"],
  ["pt-br", "Português (Brasil)"],
  ["ru", "Русский"],
  ["zh", "中文"],
] as const;
export const TINTS = ["#787f8c", "#5f8f74", "#b0855f", "#a9706f", "#8a7ca8"];
