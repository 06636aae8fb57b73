/** The beginnings of pages that an empty page suggests. */
import type { Node } from "prosemirror-model";
import { t } from "../../shared/words.ts";
import { schema } from "../document/schema.ts";
import { newTable } from "./tablecommands.ts";
import { code } from "./typing.ts";

const { nodes } = schema;
const words = (text: string): Node => nodes.paragraph!.create(null, schema.text(text));
const part = (title: string): Node => nodes.heading_1!.create(null, schema.text(title));
const item = (text?: string): Node =>
  nodes.list_item!.create(null, text ? words(text) : nodes.paragraph!.create());
const points = (...texts: (string | undefined)[]): Node =>
  nodes.list_unordered!.create(null, texts.map(item));
const step = (title: string): Node =>
  nodes.stepper_step!.create(null, [
    nodes.heading_2!.create(null, schema.text(title)),
    nodes.paragraph!.create(),
  ]);

interface Beginning {
  title: string;
  icon: string;
  make: () => Node[];
}

export const BEGINNINGS: Beginning[] = [
  {
    title: t("guide"),
    icon: "stairs",
    make: () => [
      words(t("whatReadersWillHaveAchieved")),
      part(t("beforeYouBegin")),
      points(t("whatReadersNeed")),
      part(t("steps")),
      nodes.stepper!.create(null, [step(t("firstStep")), step(t("nextStep"))]),
      part(t("troubleshooting")),
      words(t("mostCommonProblem")),
    ],
  },
  {
    title: t("reference"),
    icon: "code",
    make: () => [
      words(t("whatItIsInOne")),
      part(t("example")),
      code(""),
      part(t("settings")),
      newTable(3, 2),
      part(t("limits")),
      points(undefined),
    ],
  },
  {
    title: t("releaseNotes"),
    icon: "calendar",
    make: () => [
      words(t("mostImportantChange")),
      part(t("new")),
      points(undefined),
      part(t("changed")),
      points(undefined),
      part(t("fixed")),
      points(undefined),
      part(t("upgradeNotes")),
      points(undefined),
    ],
  },
  {
    title: t("decision"),
    icon: "circle-check",
    make: () => [
      words(t("questionInOneSentence")),
      part(t("context")),
      points(undefined),
      part(t("options")),
      points(undefined),
      part(t("decisionAndReasons")),
      nodes.paragraph!.create(),
      part(t("consequences")),
      points(undefined),
    ],
  },
];
