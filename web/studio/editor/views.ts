/** The node views and mark views of the editor, by type. Everything except text isn't editable and handles its own events. */
import type { Mark, Node } from "prosemirror-model";
import type { EditorView, MarkViewConstructor, NodeView, NodeViewConstructor } from "prosemirror-view";
import { schema } from "../document/schema.ts";
import type { Data } from "../document/types.ts";
import { h } from "./dom.ts";
import { isLost } from "./lookup.ts";
import type { Surroundings } from "./surroundings.ts";
import { words } from "./words.ts";
import { CodeView, HintView, ItemView, PlainView } from "./blockviews.ts";
import type { Position } from "./drawn.ts";
import { CaptionedView, ImagesView } from "./imageviews.ts";
import { FormulaView, InlineView, NamedView, PictureView, UnknownView } from "./inlineviews.ts";
import { ColumnView, ExpandableView, PanelView, StepView, TabsView, TitleView } from "./layoutviews.ts";
import { CardView, ReferenceView, ReusableView } from "./referenceviews.ts";

type Kind = new (node: Node, view: EditorView, position: Position, around: Surroundings) => NodeView;

const VIEWS: Record<string, Kind> = {
  list_item: ItemView,
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
};

export function nodeViews(around: Surroundings): Record<string, NodeViewConstructor> {
  const plain = Object.values(schema.nodes)
    .filter((type) => type.isBlock && type.spec.attrs !== undefined && "data" in type.spec.attrs)
    .map((type): [string, Kind] => [type.name, PlainView]);
  const make = (View: Kind): NodeViewConstructor => (node, view, position) =>
    new View(node, view, position, around);
  return Object.fromEntries([...plain, ...Object.entries(VIEWS)].map(([name, View]) => [name, make(View)]));
}

/** The text of a note, shown on hover. */
function noteText(fragments: unknown): string {
  const texts = (value: unknown): string =>
    Array.isArray(value)
      ? value.map(texts).join("")
      : value === null || typeof value !== "object"
      ? ""
      : "text" in value
      ? String(value.text)
      : texts((value as Data).nodes ?? (value as Data).leaves);
  return texts(fragments);
}

export function markViews(around: Surroundings): Record<string, MarkViewConstructor> {
  return {
    annotation: (mark: Mark) => ({
      dom: h("span", { class: "noted", title: noteText(mark.attrs.fragments) }),
    }),
    link: (mark: Mark) => {
      const { ref, title } = mark.attrs.data as Data;
      const href = around.lookup.href(ref);
      if (href === undefined || isLost(ref)) {
        return { dom: h("span", { class: "broken", title: `${words.notFound} ${href ?? ""}`.trim() }) };
      }
      return { dom: h("a", { href, title: title as string | undefined, rel: "noopener" }) };
    },
  };
}

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
