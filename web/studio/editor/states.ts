/** Texts of the save status. */
import { t } from "../../shared/words.ts";
import type { SaveState } from "./base.ts";

export function saysState(state: SaveState): string {
  switch (state.kind) {
    case "saved":
      return t("saved");
    case "saving":
      return t("saving");
    case "unsaved":
      return t("unsavedChanges");
    case "offline":
      return t("offlineSavedLocally");
    case "maintenance":
      return t("maintenanceSavedLocally");
    case "catching":
      return t("catchingUp");
    case "changed":
      return t("updatedByName", { name: state.by });
  }
}
