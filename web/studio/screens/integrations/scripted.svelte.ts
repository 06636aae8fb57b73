/** A component of an integration's script: its elements, state, and actions. */
import type { Schemas } from "../../../shared/client.ts";
import { t } from "../../../shared/words.ts";
import { renderIntegrationUIWithPost } from "../../api/integrations.ts";
import { themes } from "../../state/theme.svelte.ts";

/** An element of the tree. The server has validated its type and its size, and has checked that its URLs are web
 * URLs. */
export interface Element {
  type: string;
  [name: string]: unknown;
}
export interface Action {
  action: string;
  [name: string]: unknown;
}
type Values = Record<string, unknown>;
type Asked = Schemas["RenderRequest"];
/** The location where the component is shown, to which the theme is added. */
export type Where = {
  [K in Asked["context"]["type"]]: Omit<Extract<Asked["context"], { type: K }>, "theme">;
}[
  Asked["context"]["type"]
];

const isElement = (value: unknown): value is Element =>
  typeof value === "object" && value !== null && typeof (value as Element).type === "string";

/** Return the elements and texts of a part, which can contain one or many. */
export function partsOf(value: unknown): (Element | string)[] {
  const listed = Array.isArray(value) ? value : [value];
  return listed.filter((one) => isElement(one) || typeof one === "string");
}

export class Scripted {
  element = $state.raw<Element>();
  values = $state<Values>({});
  busy = $state(false);
  problem = $state("");
  /** The modal that this component opened. */
  modal = $state.raw<Scripted>();
  #props: Values;
  readonly #integration: string;
  readonly #component: string;
  readonly #where: Where;
  readonly #done: (returned: Values | undefined) => unknown;

  /** Create a component. `done`: called with its return value when it completes, or with undefined after an action. */
  constructor(
    integration: string,
    component: string,
    where: Where,
    props: Values,
    done: (returned: Values | undefined) => unknown,
  ) {
    this.#integration = integration;
    this.#component = component;
    this.#where = where;
    this.#props = props;
    this.#done = done;
    void this.#render();
  }

  /** Return a value, or the part of the state that it refers to. */
  read(value: unknown): unknown {
    const named = typeof value === "object" && value !== null
      ? (value as { $state?: unknown }).$state
      : undefined;
    return typeof named === "string" ? this.values[named] : value;
  }

  text(value: unknown): string {
    const found = this.read(value);
    return typeof found === "string" || typeof found === "number" ? String(found) : "";
  }

  /** Run the action of a click or a selection. */
  async act(given: unknown): Promise<void> {
    if (this.busy || typeof given !== "object" || given === null) return;
    const action = this.#filled(given) as Action;
    if (action.action === "@ui.url.open") {
      // The server doesn't validate URLs in actions.
      const url = URL.parse(String(action.url));
      if (url && /^https?:$/.test(url.protocol)) open(url, "_blank", "noopener,noreferrer");
    } else if (action.action === "@ui.modal.open") {
      this.modal = new Scripted(
        this.#integration,
        String(action.componentId),
        this.#where,
        (action.props ?? {}) as Values,
        (returned) => returned && this.close(returned),
      );
    } else if (action.action === "@ui.modal.close") {
      this.#done((action.returnValue ?? {}) as Values);
    } else await this.#render(action);
  }

  /** Close the modal. Its return value is sent to the script. */
  async close(returned?: Values): Promise<void> {
    this.modal = undefined;
    if (returned) await this.#render({ action: "@ui.modal.close", returnValue: returned });
  }

  #filled(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#filled(one));
    if (typeof value !== "object" || value === null) return value;
    if (typeof (value as { $state?: unknown }).$state === "string") return this.read(value);
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.#filled(one)]));
  }

  async #render(action?: Action): Promise<void> {
    this.busy = true;
    this.problem = "";
    try {
      const given = await renderIntegrationUIWithPost({ integrationName: this.#integration }, {
        componentId: this.#component,
        props: this.#props,
        context: { ...this.#where, theme: themes.isDark ? "dark" : "light" } as Asked["context"],
        ...(action ? { state: $state.snapshot(this.values), action } : {}),
      }) as unknown as {
        type: string;
        element: Element;
        state: Values;
        props: Values;
        returnValue?: Values;
      };
      if (given.type === "complete") {
        this.#done(given.returnValue ?? {});
        return;
      }
      this.#props = given.props;
      this.values = { ...beginnings(given.element), ...given.state };
      this.element = given.element;
      if (action) this.#done(undefined);
    } catch (problem) {
      this.problem = problem instanceof Error ? problem.message : t("somethingWentWrong");
    } finally {
      this.busy = false;
    }
  }
}

/** Return the initial values of the controls in a tree that the state doesn't contain. */
function beginnings(root: Element): Values {
  const found: Values = {};
  const look = (value: unknown) => {
    if (Array.isArray(value)) value.forEach(look);
    else if (isElement(value)) {
      if (typeof value.state === "string" && value.initialValue !== undefined) {
        found[value.state] = value.initialValue;
      }
      Object.values(value).forEach(look);
    }
  };
  look(root);
  return found;
}
