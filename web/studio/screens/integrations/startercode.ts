/** The starter code of a script that is written in the browser. */
import type { Schemas } from "../../../shared/client.ts";
import { t } from "../../../shared/words.ts";

type Publication = Schemas["PublishIntegration"];

interface Begin {
  text: string;
  scopes: Publication["scopes"];
  script: string;
  blocks?: Publication["blocks"];
}

const CHANGES = `export default {
  async fetch(request) {
    const form = await request.formData();
    const event = JSON.parse(form.get("event"));
    if (event.type === "space_content_updated") {
      console.log("changed", event.spaceId, event.revisionId);
      return new Response("OK");
    }
    return Response.json({ error: "no handler" }, { status: 406 });
  },
};
`;

const BLOCK = `export default {
  async fetch(request) {
    const form = await request.formData();
    const event = JSON.parse(form.get("event"));
    if (event.type === "ui_render") {
      const text = "Hello " + (event.props.name ?? "reader");
      const element = { type: "block", children: [{ type: "text", children: text }] };
      return Response.json({ type: "element", element, state: {}, props: event.props });
    }
    return Response.json({ error: "no handler" }, { status: 406 });
  },
};
`;

export type Beginning = "changes" | "block";

export const BEGINNINGS: Record<Beginning, Begin> = {
  changes: {
    text: t("scriptThatRunsWhenSpaces"),
    scopes: ["space:content:read"],
    script: CHANGES,
  },
  block: {
    text: t("blockThatRendersContent"),
    scopes: [],
    script: BLOCK,
    blocks: [{ id: "greeting", title: "Greeting", description: "Greets the reader of the page" }],
  },
};
