import { describe, expect, test } from "vitest";
import { address, EDITED_MAIN, MAIN, readAddress, readSettings, SETTINGS } from "./addresses.ts";
import type { Base } from "./editor/base.ts";

const BASES: Base[] = [MAIN, EDITED_MAIN, { kind: "change", number: 42 }, { kind: "revision", id: "r1" }];

describe("URLs round-trip", () => {
  test.each(["", "start", "über uns/a b", "a%2Fb", "100%"])("page %s", (path) => {
    for (const base of BASES) {
      expect(readAddress(address.page("s1", path, base))).toEqual({
        screen: "page",
        space: "s1",
        base,
        path,
      });
    }
  });

  test.each(["review", "conflicts", "talk", "preview"] as const)("%s of a change request", (view) => {
    expect(readAddress(address.change("s1", 7, view, "guides/start"))).toEqual({
      screen: "change",
      space: "s1",
      number: 7,
      view,
      path: "guides/start",
    });
  });

  test("other screens", () => {
    expect(readAddress(address.work)).toEqual({ screen: "work" });
    expect(readAddress(address.space("s", "history"))).toEqual({
      screen: "space",
      space: "s",
      view: "history",
      rest: [],
    });
    expect(readAddress(address.organization("o", "settings/webhooks"))).toEqual({
      screen: "organization",
      organization: "o",
      view: "settings",
      rest: ["webhooks"],
    });
    expect(readAddress("/~/integrations/slack")).toEqual({
      screen: "organization",
      organization: "",
      view: "integrations",
      rest: ["slack"],
    });
    expect(readAddress(address.site("o", "s", "look"))).toEqual({
      screen: "site",
      organization: "o",
      site: "s",
      view: "look",
    });
  });
});

test("sections of settings", () => {
  for (const section of SETTINGS) {
    const named = section === "general" ? [] : ["a b"];
    const place = readAddress(address.settings("o", section, ...named));
    if (place.screen !== "organization") throw new Error(section);
    expect(readSettings(place.view, place.rest)).toEqual([section, named]);
  }
  expect(readSettings("settings", ["webhooks", "w"])).toEqual(["webhooks", ["w"]]);
  expect(readSettings("tasks", ["t"])).toEqual(["conversations", ["tasks", "t"]]);
  expect(readSettings("members", [])).toBeUndefined();
  expect(readSettings("general", [])).toBeUndefined();
});

test.each(["/nothing", "/s", "/%zz", "/~/else"])("%s is nowhere", (path) => {
  expect(readAddress(path)).toEqual({ screen: "nowhere" });
});
