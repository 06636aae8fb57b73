/** The views for blocks and inline nodes that most pages don't have, loaded with the first page that has one. */
import type { EditorView, NodeViewConstructor } from "prosemirror-view";
import "../../generated/rich-page.css";
import "./rich-page.css";
import { ValueView } from "./cellviews.ts";
import { CodeView, HintView } from "./codeviews.ts";
import { CaptionedView, ImagesView } from "./imageviews.ts";
import { FormulaView, InlineView, NamedView, PictureView, UnknownView } from "./inlineviews.ts";
import { ColumnView, ExpandableView, PanelView, StepView, TabsView, TitleView } from "./layoutviews.ts";
import { CardView, ReferenceView, ReusableView } from "./referenceviews.ts";
import type { Surroundings } from "./surroundings.ts";
import { type Kind, makeViews } from "./views.ts";

export { drawBlock, drawInline } from "../document/richdrawing.ts";
export { colorsOf } from "./coloring.ts";

const VIEWS: Record<string, Kind> = {
  hint: HintView,
  code_block: CodeView,
  images: ImagesView,
  image: CaptionedView,
  file: CaptionedView,
  embed: CaptionedView,
  drawing: PictureView,
  expandable: ExpandableView,
  expandable_title: TitleView,
  tabs: TabsView,
  tabs_item: PanelView,
  stepper_step: StepView,
  column: ColumnView,
  content_ref: ReferenceView,
  reusable_content: ReusableView,
  swagger: CardView,
  openapi_operation: CardView,
  openapi_schemas: CardView,
  openapi_webhook: CardView,
  integration: CardView,
  opaque: CardView,
  unknown: UnknownView,
  if: NamedView,
  update: NamedView,
  prompt: NamedView,
  api_method: NamedView,
  api_part: NamedView,
  math: FormulaView,
  icon: InlineView,
  inline_math: InlineView,
  inline_image: InlineView,
  button: InlineView,
  mention: InlineView,
  expression: InlineView,
  inline_unknown: InlineView,
  held: InlineView,
  table_value: ValueView,
};

export const richViews = (around: Surroundings): Record<string, NodeViewConstructor> =>
  makeViews(VIEWS, around);

/** Show the tab that contains a position. */
export function reveal(view: EditorView, at: number): void {
  const place = view.state.doc.resolve(at);
  for (let depth = 1; depth <= place.depth; depth++) {
    if (place.node(depth).type.name !== "tabs_item") continue;
    const tabs = view.nodeDOM(place.before(depth - 1)) as
      | (HTMLElement & { pmViewDesc?: { spec?: unknown } })
      | null;
    const drawn = tabs?.pmViewDesc?.spec;
    if (drawn instanceof TabsView) drawn.choose(place.index(depth - 1));
  }
  const folded = (view.domAtPos(at).node as HTMLElement).parentElement?.closest?.("details:not([open])");
  folded?.setAttribute("open", "");
}
