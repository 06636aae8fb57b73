/**
 * Builds the nodes of a page from its document. The editor and read-only pages have different nodes, so the
 * functions that create nodes are passed in.
 */
import { DERIVED } from "./comparing.ts";
import { editorName, MARK_TYPES, table } from "./table.ts";
import type {
  BlockJson,
  Data,
  DocumentJson,
  FragmentJson,
  InlineJson,
  Json,
  LeafJson,
  TextJson,
} from "./types.ts";

/** Thrown if a document contains something that these nodes can't represent. */
export class Foreign extends Error {}

/** Creates nodes `N` with marks `M`, by the names of the editor's schema. */
export interface Maker<N, M> {
  node(type: string, attributes?: Data | null, content?: N[] | null, marks?: readonly M[]): N;
  text(text: string, marks?: readonly M[]): N;
  /** Return marks with another mark added at its rank. */
  mark(type: string, attributes: Data, among: readonly M[]): readonly M[];
}

/** The last number. It starts at a random number, so that links that two browsers create on one page differ. */
let uids = Math.floor(Math.random() * 2 ** 48);

/** Return a number that no other link or annotation of a page has, and that is higher than all previous ones. */
export function uid(): number {
  return ++uids;
}

export function childrenOf<N>(node: { forEach(visit: (child: N) => void): void }): N[] {
  const found: N[] = [];
  node.forEach((child) => found.push(child));
  return found;
}

/** Return the ranks of marks, outermost first. */
export const RANK = new Map(MARK_TYPES.map((type, at) => [type, at]));

type Column = Data & { type: string };

function attributes(json: BlockJson | InlineJson): Data {
  return { key: json.key ?? null, data: json.data ?? {}, meta: json.meta ?? null };
}

function fragmentAttributes(json: FragmentJson): Data {
  return { key: json.key ?? null, fragment: json.fragment ?? null, type: json.type ?? null };
}

/** Return the data of a button with the text of its action as fields, as its settings edit it. */
function flattened(data: Data): Data {
  const { action, ...others } = data;
  return typeof action === "object" && action !== null && !Array.isArray(action)
    ? { ...others, ...action }
    : data;
}

export class Builder<N, M> {
  constructor(private make: Maker<N, M>) {}

  /** Build a page. It always has at least one block: an empty page has one empty paragraph. `top` builds its blocks. */
  page(document: DocumentJson, top: (json: BlockJson) => N): N {
    return this.make.node("doc", null, this.#filled(document.nodes.map(top)));
  }

  block(json: BlockJson): N {
    const row = table.blocks[json.type];
    if (row === undefined) throw new Foreign(json.type);
    const type = editorName("block", json.type);
    const attrs = attributes(json);
    const nodes = json.nodes ?? [];
    if (json.type === "table") return this.#table(json);
    if (json.type === "expandable") {
      return this.make.node(type, attrs, this.#expandable(json.fragments ?? []));
    }
    if (row.children === "inlines") {
      if (json.type === "paragraph" && !nodes.length) attrs.blank = true;
      return this.make.node(type, attrs, this.#inlines(nodes as InlineJson[], []));
    }
    if (row.children !== null) {
      const children = this.#blocks(nodes as BlockJson[]);
      const mayBeEmpty = json.type === "unknown" || row.children !== "blocks";
      return this.make.node(type, attrs, mayBeEmpty ? children : this.#filled(children));
    }
    return this.make.node(
      type,
      attrs,
      row.fragments ? (json.fragments ?? []).map((each) => this.#caption(each)) : null,
    );
  }

  #blocks(nodes: BlockJson[]): N[] {
    return nodes.map((each) => this.block(each));
  }

  #filled(found: N[]): N[] {
    return found.length ? found : [this.make.node("paragraph")];
  }

  #part(type: string, json: FragmentJson, more: Data = {}): N {
    return this.make.node(
      type,
      { ...fragmentAttributes(json), ...more },
      this.#filled(this.#blocks(json.nodes)),
    );
  }

  #caption(json: FragmentJson): N {
    if (json.fragment !== "caption") throw new Foreign("fragment");
    return this.#part("caption", json);
  }

  #expandable(fragments: FragmentJson[]): N[] {
    return ["expandable-title", "expandable-body"].map((name) => {
      const json = fragments.find((each) => each.fragment === name);
      if (json === undefined) throw new Foreign("fragment");
      return this.#part(name.replace("-", "_"), json);
    });
  }

  #table(json: BlockJson): N {
    const data = json.data as {
      view: Data & { columns: string[] };
      definition: Record<string, Column>;
      records: Record<string, { orderIndex: string; values: Data }>;
      [DERIVED]?: Json;
    };
    const { columns, ...view } = data.view;
    const { definition, records, [DERIVED]: _, ...others } = data;
    const shown = columns.filter((id) => id in definition);
    const fragments = new Map((json.fragments ?? []).map((each) => [each.fragment, each]));
    const headings = shown.map((id) => {
      const { id: _, title, ...column } = definition[id]!;
      return this.make.node(
        "table_heading",
        { id, column, col: id },
        title ? [this.make.text(title as string)] : null,
      );
    });
    if (!headings.length) throw new Foreign("columns");
    const rows = Object.entries(records)
      .sort(([, one], [, other]) => (one.orderIndex < other.orderIndex ? -1 : 1))
      .map(([id, record]) => {
        const values = { ...record.values };
        const cells = shown.map((column) => {
          const value = values[column] ?? null;
          delete values[column];
          const fragment = typeof value === "string" ? fragments.get(value) : undefined;
          if (fragment !== undefined) {
            fragments.delete(value as string);
            return this.#part("table_cell", fragment, { col: column });
          }
          if (value === null && definition[column]!.type === "text") return this.#absentCell(column);
          return this.make.node("table_value", { value, col: column });
        });
        return this.make.node("table_row", { id, order: record.orderIndex, values }, cells);
      });
    const hidden = Object.fromEntries(Object.entries(definition).filter(([id]) => !shown.includes(id)));
    return this.make.node(
      editorName("block", "table"),
      {
        ...attributes(json),
        data: { ...others, view },
        hidden,
        rest: [...fragments.values()] as unknown as Json,
      },
      [this.make.node("table_head", null, headings), ...rows],
    );
  }

  /** Create a cell for which the row has no value. It exists only while it is empty. */
  #absentCell(col: string): N {
    return this.make.node("table_cell", { absent: true, col }, this.#filled([]));
  }

  #inlines(nodes: (TextJson | InlineJson)[], around: readonly M[]): N[] {
    const found: N[] = [];
    for (const node of nodes) {
      if (node.object === "text") {
        for (const leaf of node.leaves) this.#leaf(leaf, around, found);
      } else if (node.type in table.inlines && (node.type === "link" || node.type === "annotation")) {
        if (node.nodes?.length) {
          const fragments = (node.fragments ?? []) as unknown as Json;
          const mark = { uid: uid(), ...attributes(node), fragments };
          found.push(...this.#inlines(node.nodes, this.make.mark(node.type, mark, around)));
        } else found.push(this.#held(node, around));
      } else if (node.type in table.inlines) {
        const data = node.type === "button" ? flattened(node.data ?? {}) : node.data;
        const attrs = attributes({ ...node, data });
        found.push(this.make.node(editorName("inline", node.type), attrs, null, around));
      } else found.push(this.#held(node, around));
    }
    return found;
  }

  #held(json: InlineJson, around: readonly M[]): N {
    return this.make.node("held", { json: json as unknown as Json }, null, around);
  }

  #leaf(leaf: LeafJson, around: readonly M[], found: N[]): void {
    const given = leaf.marks ?? [];
    const usual = given.every((mark, at) => !at || RANK.get(given[at - 1]!.type)! < RANK.get(mark.type)!);
    let marks = around;
    given.forEach((mark, place) => {
      if (!RANK.has(mark.type)) throw new Foreign(mark.type);
      marks = this.make.mark(mark.type, { ...mark.data, at: usual ? null : place }, marks);
    });
    leaf.text.split("\n").forEach((line, at) => {
      if (at) found.push(this.make.node("hard_break", null, null, marks));
      if (line) found.push(this.make.text(line, marks));
    });
  }
}
