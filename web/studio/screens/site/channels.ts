/** The services in which the assistant of a site can answer. */
import type { Schemas } from "../../../shared/client.ts";

export type ChannelType = Schemas["SiteChannel"]["type"];
type Setup = Schemas["ChannelSetup"];

interface Service {
  name: string;
  /** The name of the integration that connects the service. */
  integration: string;
  /** The setting that limits the places where the assistant answers. */
  allowed: keyof Setup;
  /** The URL at which the service's apps are registered. */
  register: string;
}

export const SERVICES: Record<ChannelType, Service> = {
  "builtin:slack": {
    name: "Slack",
    integration: "slack",
    allowed: "allowedChannels",
    register: "https://api.slack.com/apps",
  },
  "builtin:discord": {
    name: "Discord",
    integration: "discord",
    allowed: "allowedChannels",
    register: "https://discord.com/developers/applications",
  },
  "builtin:linear": {
    name: "Linear",
    integration: "linear",
    allowed: "allowedTeams",
    register: "https://linear.app/settings/api/applications",
  },
  "builtin:github": {
    name: "GitHub",
    integration: "github",
    allowed: "allowedRepositories",
    register: "https://github.com/settings/apps",
  },
};

/** Return the places where a channel answers; empty for all places. */
export const allowedOf = (channel: { type: ChannelType; setupSettings: Setup }): string[] =>
  channel.setupSettings[SERVICES[channel.type].allowed] ?? [];
