/** Light, dark, or the system's theme. */
export type Theme = "system" | "light" | "dark";
const KEPT = "octavo-theme";

class Themes {
  current: Theme = $state((localStorage.getItem(KEPT) as Theme | null) ?? "system");

  apply(): void {
    const root = document.documentElement;
    if (this.current === "system") delete root.dataset.theme;
    else root.dataset.theme = this.current;
  }

  choose(theme: Theme): void {
    this.current = theme;
    localStorage.setItem(KEPT, theme);
    this.apply();
  }

  get isDark(): boolean {
    return this.current === "dark" ||
      this.current === "system" && matchMedia("(prefers-color-scheme: dark)").matches;
  }
}

export const themes = new Themes();
