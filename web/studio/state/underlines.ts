/** The storage key of whether findings are underlined in the text while it is edited, in this browser. */
const KEPT = "octavo-underlines";

export const underlines = {
  get on(): boolean {
    return localStorage.getItem(KEPT) !== "off";
  },
  set on(wanted: boolean) {
    localStorage.setItem(KEPT, wanted ? "on" : "off");
  },
};
