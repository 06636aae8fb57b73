/** Changes a site's structure. Each change is applied immediately, confirmed, and can be undone if possible. */
import type { Schemas } from "../../shared/client.ts";
import { n, t } from "../../shared/words.ts";
import {
  addExternalLinkToSite,
  addSectionGroupToSite,
  addSectionToSite,
  addSpaceToSite,
  applyTemplateToSite,
  deleteSiteExternalLinkById,
  deleteSiteRedirectById,
  deleteSiteSectionById,
  deleteSiteSectionGroupById,
  deleteSiteSpaceById,
  duplicateSiteSpace,
  publishSiteDrafts,
  sortSiteStructure,
  updateSiteById,
  updateSiteExternalLinkById,
  updateSiteSectionById,
  updateSiteSectionGroupById,
  updateSiteSpaceById,
} from "../api/sites.ts";
import { notices } from "./notices.svelte.ts";
import { refresh } from "./resource.svelte.ts";
import {
  type Draft,
  draftsOf,
  type Group,
  isGroup,
  isLink,
  type Node,
  refreshSite,
  type Section,
  sectionsIn,
  type SitePath,
  type SiteSpace,
  type Structure,
  structureOf,
} from "./site.svelte.ts";

export type Item = Node | SiteSpace;
type Kind = Item["object"];

/** A position in the structure: next to an item, or at the end of a group. */
export type Place = { before: Item } | { after: Item } | { into: Group };

export const titleOf = (item: Item): string => item.title;

const groupsIn = (nodes: readonly Node[]): Group[] =>
  nodes.flatMap((node) => isGroup(node) ? [node, ...groupsIn(node.children as Node[])] : []);

export const nodesOf = (structure: Structure): Node[] =>
  structure.type === "sections" ? structure.structure as Node[] : [];

const linksIn = (nodes: readonly Node[]): Node[] =>
  nodes.flatMap((node) => isGroup(node) ? linksIn(node.children as Node[]) : isLink(node) ? [node] : []);

/** Return the item with this ID. */
export function findItem(structure: Structure, id: string): Item | undefined {
  const nodes = nodesOf(structure);
  const spaces = structure.type === "siteSpaces"
    ? structure.structure
    : sectionsIn(nodes).flatMap((section) => section.siteSpaces);
  return [...groupsIn(nodes), ...linksIn(nodes), ...sectionsIn(nodes), ...spaces].find((one) =>
    one.id === id
  );
}

export const groupsOf = (structure: Structure): Group[] => groupsIn(nodesOf(structure));

/** Return the siblings of an item in order, and their group. */
export function siblingsOf(structure: Structure, item: Item): { all: Item[]; group: Group | undefined } {
  const nodes = nodesOf(structure);
  if (item.object === "site-space") {
    const section = sectionsIn(nodes).find((one) => one.id === item.section);
    return {
      all: section?.siteSpaces ?? (structure.type === "siteSpaces" ? structure.structure : []),
      group: undefined,
    };
  }
  const group = groupsIn(nodes).find((one) => one.id === item.sectionGroup);
  return { all: group ? group.children as Node[] : nodes, group };
}

/** Return whether visitors don't see an item because it or something around it is a draft. */
export function isHidden(structure: Structure, item: Item): boolean {
  const outer = item.object === "site-space" ? item.section : item.sectionGroup;
  const parent = outer && findItem(structure, outer);
  return Boolean(item.draft || parent && isHidden(structure, parent));
}

/** Return the position of an item, which undo restores. */
export function placeOf(structure: Structure, item: Item): Place | undefined {
  const { all, group } = siblingsOf(structure, item);
  const at = all.findIndex((one) => one.id === item.id);
  if (all[at - 1]) return { after: all[at - 1]! };
  if (all[at + 1]) return { before: all[at + 1]! };
  return group ? { into: group } : undefined;
}

/** Return the path of an item, without the URL of the site. */
export function pathOf(structure: Structure, item: Item): string {
  if (isLink(item)) return item.url;
  if (item.object === "site-section-group") return "";
  const parts: string[] = [];
  const section = item.object === "site-section"
    ? item
    : sectionsIn(nodesOf(structure)).find((one) => one.id === item.section);
  if (section && !section.default) parts.push(section.path);
  if (item.object === "site-space" && !item.default) parts.push(item.path);
  return `/${parts.join("/")}`;
}

type SectionFields = Pick<
  Schemas["UpdateSection"],
  "title" | "path" | "condition" | "icon" | "description" | "draft"
>;

export type ItemFields = SectionFields & {
  spaceId?: string;
  url?: string;
  hidden?: boolean;
  pageId?: string | null;
  localizedTitle?: Record<string, string>;
  localizedDescription?: Record<string, string>;
};

/** The values of fields that the API omits from an item if they aren't set; null for all other fields. */
const UNSET_FIELDS: Record<string, unknown> = {
  draft: false,
  hidden: false,
  localizedTitle: {},
  localizedDescription: {},
};

/** The field of each item that has the ID of its group. */
const GROUP_FIELDS: Record<Node["object"], string> = {
  "site-section": "siteSectionGroupId",
  "site-section-group": "parentSectionGroupId",
  "site-external-link": "parent",
};

export class StructureEditor {
  constructor(readonly path: SitePath) {}

  get structure(): Structure | undefined {
    return structureOf(this.path).value;
  }

  async #done(): Promise<void> {
    await Promise.all(
      [structureOf(this.path), draftsOf(this.path)].map((one) => one.refresh({ force: true })),
    );
    refreshSite(this.path);
  }

  /** Run an action and confirm it, or show the server's error. */
  async #do(work: () => Promise<unknown>, said: string, undo?: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
    } catch (problem) {
      notices.fail(problem);
      await structureOf(this.path).refresh({ force: true }).catch(() => {});
      return false;
    }
    notices.say(said, {
      undo: undo && (async () => {
        await undo();
        await this.#done();
      }),
    });
    await this.#done();
    return true;
  }

  #put(item: Item, to: Place): Promise<unknown> {
    if ("into" in to) return this.#send(item, { [GROUP_FIELDS[item.object as Node["object"]]]: to.into.id });
    const pointer = (one: Item) => ({ type: one.object as Kind, id: one.id });
    return sortSiteStructure(this.path, {
      item: pointer(item),
      position: "before" in to ? { before: pointer(to.before) } : { after: pointer(to.after) },
    });
  }

  move(item: Item, to: Place): Promise<boolean> {
    const back = this.structure && placeOf(this.structure, item);
    return this.#do(
      () => this.#put(item, to),
      saysWhere(item, to),
      back && (() => this.#put(item, back)),
    );
  }

  #patchSection(id: string, body: Schemas["UpdateSection"]): Promise<unknown> {
    return updateSiteSectionById({ ...this.path, siteSectionId: id }, body);
  }

  #send(item: Item, body: Record<string, unknown>): Promise<unknown> {
    if (item.object === "site-section") return this.#patchSection(item.id, body);
    if (item.object === "site-section-group") {
      return updateSiteSectionGroupById({ ...this.path, siteSectionGroupId: item.id }, body);
    }
    if (isLink(item)) {
      return updateSiteExternalLinkById({ ...this.path, siteExternalLinkId: item.id }, body);
    }
    return updateSiteSpaceById({ ...this.path, siteSpaceId: item.id }, body);
  }

  /** Update fields of a section, a group, or a site space. Throws the server's errors. */
  async update(item: Item, fields: ItemFields): Promise<void> {
    const before = Object.fromEntries(
      Object.keys(fields).map((name) => [
        name,
        name === "spaceId"
          ? (item as SiteSpace).space.id
          : (item as unknown as Record<string, unknown>)[name] ?? UNSET_FIELDS[name] ?? null,
      ]),
    );
    await this.#send(item, fields);
    notices.say(t("updatedTitle", { title: fields.title ?? titleOf(item) }), {
      undo: async () => {
        await this.#send(item, before);
        await this.#done();
      },
    });
    await this.#done();
  }

  /** Set the default section of the site, or the default space of a section. */
  begin(item: Section | SiteSpace): Promise<boolean> {
    const structure = this.structure;
    const before = structure &&
      siblingsOf(structure, item).all.concat(
        item.object === "site-section" ? sectionsIn(nodesOf(structure)) : [],
      )
        .find((one) => "default" in one && one.default && one.object === item.object) as
          | typeof item
          | undefined;
    const send = (one: Section | SiteSpace) => {
      if (one.object === "site-space" && one.section) {
        return this.#patchSection(one.section, { defaultSiteSpace: one.id });
      }
      return updateSiteById(
        this.path,
        one.object === "site-section" ? { defaultSiteSection: one.id } : { defaultSiteSpace: one.id },
      );
    };
    return this.#do(
      () => send(item),
      t("isNowDefaultForVisitors", { title: titleOf(item) }),
      before && (() => send(before)),
    );
  }

  /** Add a space as a new section, or as a variant of `variantOf` (`section: null`: of the site). Returns the ID of the
   * new item. Throws the server's errors. */
  async add(
    variantOf: { section: string | null } | undefined,
    added: Pick<Schemas["AddSection"], "spaceId" | "title" | "draft" | "template">,
  ): Promise<string> {
    const made = variantOf
      ? await addSpaceToSite(this.path, {
        ...added,
        ...(variantOf.section ? { sectionId: variantOf.section } : {}),
      })
      : await addSectionToSite(this.path, added);
    notices.say(t("addedTitle", { title: titleOf(made) }), { undo: () => this.#remove(made) });
    await this.#done();
    refresh(`org/${this.path.organizationId}/spaces`);
    return made.id;
  }

  /** Fill a site without content with sections to start from. */
  async fill(): Promise<boolean> {
    return await this.#do(async () => {
      await applyTemplateToSite(this.path);
      refresh(`org/${this.path.organizationId}/spaces`);
    }, t("sectionsAddedFromTemplate"));
  }

  async addGroup(title: string): Promise<string> {
    const made = await addSectionGroupToSite(this.path, { title, sections: [] });
    notices.say(t("addedGroupTitle", { title }), { undo: () => this.#remove(made) });
    await this.#done();
    return made.id;
  }

  async addLink(title: string, url: string, draft: boolean): Promise<string> {
    const made = await addExternalLinkToSite(this.path, { title, url, draft });
    notices.say(t("addedTitle", { title }), { undo: () => this.#remove(made) });
    await this.#done();
    return made.id;
  }

  duplicate(item: SiteSpace): Promise<boolean> {
    return this.#do(async () => {
      await duplicateSiteSpace({ ...this.path, siteSpaceId: item.id }, { draft: true });
      refresh(`org/${this.path.organizationId}/spaces`);
    }, t("duplicatedTitle", { title: titleOf(item) }));
  }

  /** Publish drafts. Throws the server's errors. */
  async publish(items: string[]): Promise<void> {
    await publishSiteDrafts(this.path, { items });
    notices.say(n("changePublishedCount", items.length), {
      undo: async () => {
        await publishSiteDrafts(this.path, { items, draft: true });
        await this.#done();
      },
    });
    await this.#done();
  }

  /** Delete drafts. The contents of a group remain on the site; none of them becomes visible. Throws the server's
   * errors. */
  async discard(drafts: readonly Draft[]): Promise<void> {
    const ids = new Set(drafts.map((one) => one.id));
    const exposed = this.structure
      ? groupsOf(this.structure).filter((one) => ids.has(one.id))
        .flatMap((one) => one.children as Node[]).filter((one) => !one.draft && !ids.has(one.id))
      : [];
    try {
      if (exposed.length) {
        await publishSiteDrafts(this.path, { items: exposed.map((one) => one.id), draft: true });
      }
      for (const one of drafts) await this.#delete(one);
    } finally {
      await this.#done();
    }
    notices.say(n("draftDiscardedCount", drafts.length));
  }

  #delete({ object, id }: Pick<Draft, "object" | "id">): Promise<unknown> {
    switch (object) {
      case "site-external-link":
        return deleteSiteExternalLinkById({ ...this.path, siteExternalLinkId: id });
      case "site-section":
        return deleteSiteSectionById({ ...this.path, siteSectionId: id });
      case "site-section-group":
        return deleteSiteSectionGroupById({ ...this.path, siteSectionGroupId: id });
      case "site-space":
        return deleteSiteSpaceById({ ...this.path, siteSpaceId: id });
      case "site-redirect":
        return deleteSiteRedirectById({ ...this.path, siteRedirectId: id });
    }
  }

  async #remove(item: Item): Promise<void> {
    await this.#delete(item);
    await this.#done();
  }

  /** Remove an item from the site, or ungroup a group. Throws the server's errors. */
  async remove(item: Item): Promise<void> {
    await this.#remove(item);
    notices.say(
      item.object === "site-section-group"
        ? t("ungroupedTitle", { title: item.title })
        : t("titleRemovedFromSite", { title: titleOf(item) }),
    );
  }
}

/** Return the position of an item as a sentence. */
function saysWhere(item: Item, to: Place): string {
  const title = titleOf(item);
  if ("into" in to) return t("movedTitleIntoOther", { title, other: to.into.title });
  return "before" in to
    ? t("movedTitleBeforeOther", { title, other: titleOf(to.before) })
    : t("movedTitleAfterOther", { title, other: titleOf(to.after) });
}
