/** The checks of a page that is being edited. Their code is loaded when a site of the space has a style guide. */
import type { EditorView } from "prosemirror-view";
import type { SitePath } from "../api/sites.ts";
import type { Fault, FaultList } from "./base.ts";
import type { TextChecks } from "./textchecks.ts";

export class PageChecks implements FaultList {
  #checks: TextChecks | undefined;
  #site = "";
  #faults: Fault[] | undefined;
  readonly #ears = new Set<(faults: Fault[]) => void>();

  constructor(readonly view: () => EditorView | undefined, readonly page: string) {}

  async start(site: SitePath): Promise<void> {
    if (this.#site === site.siteId) return;
    this.#site = site.siteId;
    const { TextChecks, asking } = await import("./textchecks.ts");
    const view = this.view();
    if (!view || view.isDestroyed || this.#site !== site.siteId) return;
    this.#checks?.stop();
    this.#checks = new TextChecks(view, asking(site, this.page), (faults) => {
      this.#faults = faults;
      for (const hear of this.#ears) hear(faults);
    });
  }

  follow(hear: (faults: Fault[]) => void): () => void {
    this.#ears.add(hear);
    if (this.#faults) hear(this.#faults);
    return () => this.#ears.delete(hear);
  }

  show(fault: Fault): void {
    this.#checks?.show(fault);
  }

  stop(): void {
    this.#checks?.stop();
  }
}
