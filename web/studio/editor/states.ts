/** How far a text is kept, in words. */
import { t } from "../../shared/words.ts";
import type { SaveState } from "./base.ts";

export function saysState(state: SaveState): string {
  switch (state.kind) {
    case "saved":
      return t("Saved");
    case "saving":
      return t("Saving");
    case "unsaved":
      return t("Not saved yet");
    case "offline":
      return t("Offline, kept here");
    case "changed":
      return t("Changed by {name}", { name: state.by });
  }
}
