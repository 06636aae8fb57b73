/** Text that is saved as a whole after a pause and merged with other people's saves: reusable content edited in place. */
import { EditorState, type Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { Node } from "prosemirror-model";
import { ApiError } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { same } from "../document/comparing.ts";
import { readDocument, writeDocument } from "../document/convert.ts";
import { trimmed } from "../document/trimming.ts";
import type { BlockJson } from "../document/types.ts";
import type { SaveState } from "./base.ts";
import { withKnown } from "./difference.ts";
import { readInput } from "./pendinginput.ts";
import { type KeptPage, restore, withWritten } from "./storedpage.ts";
import type { LoadedPage } from "./page.ts";
import { Sender } from "./sender.ts";
import { REMOTE, type Rescue, Together } from "./together.ts";

export interface SavedTextOptions {
  tab: string;
  loaded: LoadedPage;
  /** The changes of another tab that has closed. */
  kept?: KeptPage;
  load: () => Promise<LoadedPage>;
  /** Save all blocks based on a revision; returns the text with other people's changes, if there are any. */
  save: (blocks: BlockJson[], revision: string) => Promise<{ revision: string; merged?: LoadedPage }>;
  keep: (kept: KeptPage | undefined) => Promise<unknown>;
  onstate: (state: SaveState) => void;
  onproblem: (problem: Error) => void;
}

export class SavedText {
  #together: Together;
  #revision: string;
  #view: EditorView | undefined;
  #sender: Sender;
  /** The save that has no response yet. It is sent again unchanged. If it had already arrived, the server merges it
   * with itself. */
  #unanswered: { blocks: BlockJson[]; steps: number } | undefined;

  constructor(private options: SavedTextOptions) {
    const { tab, loaded, kept, onstate, onproblem } = options;
    const onrescue = (rescue: Rescue): void => this.#rescued(rescue);
    this.#revision = loaded.revision;
    this.#together = kept
      ? restore(kept, onrescue)
      : new Together(tab, 0, readDocument(loaded.document), onrescue);
    this.#sender = new Sender({
      isDirty: () => this.#together.pending.length > 0,
      send: () => this.#send(),
      keep: () => this.#keep(),
      onstate,
      onproblem,
    });
  }

  get doc(): Node {
    return this.#together.doc;
  }

  get kept(): "server" | "browser" | "nowhere" {
    return this.#sender.kept;
  }

  attach(view: EditorView): void {
    const { kept, loaded } = this.options;
    this.#view = view;
    if (!kept) return;
    this.#bring(loaded);
    this.#sender.changed();
  }

  changed(transaction: Transaction): void {
    if (transaction.getMeta(REMOTE)) return;
    this.#together.written(transaction);
    this.#sender.changed();
  }

  flush(): Promise<void> {
    return this.#sender.flush();
  }

  again(): void {
    if (this.#together.pending.length) this.#sender.again();
  }

  /** Apply the changes of another tab, as if typed now. */
  adopt(kept: KeptPage): Promise<void> {
    const other = restore(kept, (rescue) => this.#rescued(rescue));
    const adopted = withWritten(other, EditorState.create({ doc: other.doc }), readInput(this.#view!));
    if (adopted) this.#view!.dispatch(adopted);
    return this.#keep().then(() => {});
  }

  /** Apply changes that others saved. Return whether there were any. */
  async look(): Promise<boolean> {
    const found = await this.options.load();
    // The sent text may be part of the server's version, and would appear twice.
    if (this.#unanswered || found.revision === this.#revision || this.#view!.composing) return false;
    return this.#bring(found);
  }

  stop(): Promise<void> {
    return this.#sender.stop();
  }

  async #send(): Promise<void> {
    const { blocks, steps } = this.#unanswered ??= {
      blocks: this.#wanted(),
      steps: this.#together.pending.length,
    };
    try {
      const { revision, merged } = await this.options.save(blocks, this.#revision);
      this.#together.confirm(steps);
      this.#revision = revision;
      this.#unanswered = undefined;
      if (merged) this.#bring(merged);
    } catch (problem) {
      if (problem instanceof ApiError && problem.status >= 400 && problem.status < 500) {
        this.#unanswered = undefined;
      }
      throw problem;
    }
  }

  /** Return the blocks to save, without spaces around typed text. */
  #wanted(): BlockJson[] {
    const known = new Map(writeDocument(this.#together.base).nodes.map((block) => [block.key, block]));
    return writeDocument(this.#together.doc).nodes.flatMap((block) => {
      const found = trimmed(block, known.get(block.key));
      return found !== block && found.type === "paragraph" && !found.nodes?.length ? [] : [found];
    });
  }

  /** Continue from the server's text. Return whether the displayed text changes. */
  #bring({ revision, document }: LoadedPage): boolean {
    const state = readInput(this.#view!);
    this.#revision = revision;
    const { pending, base } = this.#together;
    if (same(writeDocument(this.#together.doc).nodes, document.nodes)) {
      this.#together.confirm(pending.length);
      return false;
    }
    const isSame = (own: BlockJson, block: BlockJson): boolean =>
      same(own, block) || same(trimmed(own, block), block);
    const doc = base.type.create(null, withKnown(base, document.nodes, isSame));
    this.#view!.dispatch(this.#together.moved(state, 0, doc));
    return !this.#view!.state.doc.eq(state.doc);
  }

  #keep(): Promise<unknown> {
    const { version, base, pending } = this.#together;
    const document = base.toJSON();
    const own = this.#together.keep();
    const kept = { epoch: this.#revision, version, document, batches: [], own, aside: [] };
    return this.options.keep(pending.length ? kept : undefined);
  }

  #rescued(rescue: Rescue): void {
    if (rescue.kind === "restored") return;
    const text = rescue.nodes.map(({ textContent }) => textContent).join("\n");
    this.options.onproblem(new Error(`${t("someTextFoundNoPlace")} ${text}`));
  }
}
