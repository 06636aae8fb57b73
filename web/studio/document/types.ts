/** Documents as the API sends them: a loose form of `components["schemas"]["Document"]`. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Data = { [name: string]: Json };

export interface MarkJson {
  object?: "mark";
  type: string;
  data?: Data;
}

export interface LeafJson {
  object?: "leaf";
  text: string;
  marks?: MarkJson[];
}

export interface TextJson {
  object: "text";
  leaves: LeafJson[];
  key?: string;
}

export interface InlineJson {
  object: "inline";
  type: string;
  isVoid?: boolean;
  key?: string;
  data?: Data;
  meta?: Data;
  nodes?: (TextJson | InlineJson)[];
  fragments?: FragmentJson[];
}

export interface FragmentJson {
  object?: "fragment";
  fragment?: string;
  type?: string;
  key?: string;
  nodes: BlockJson[];
}

export interface BlockJson {
  object?: "block";
  type: string;
  isVoid?: boolean;
  key?: string;
  data?: Data;
  meta?: Data;
  nodes?: (BlockJson | TextJson | InlineJson)[];
  fragments?: FragmentJson[];
}

export interface DocumentJson {
  object?: "document";
  data?: Data;
  nodes: BlockJson[];
}

/** A reference: the value of the field `ref` of many nodes. */
export type Ref = Data & { kind: string };
