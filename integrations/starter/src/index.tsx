import { createComponent, createIntegration, Logger } from "@gitbook/runtime";

const logger = Logger("starter");

// A page shows it with {% @NAME/greeting name="Ada" %}, where NAME is what the manifest calls the integration.
const greeting = createComponent<{ name?: string }>({
  componentId: "greeting",
  render: async (element) => (
    <block>
      <card title={`Hello ${element.props.name ?? "there"}`} />
    </block>
  ),
});

export default createIntegration({
  components: [greeting],
  events: {
    space_content_updated: async (event) => {
      logger.info(`the space ${event.spaceId} changed, and is at revision ${event.revisionId}`);
    },
  },
});
