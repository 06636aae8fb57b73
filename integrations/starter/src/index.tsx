import { createComponent, createIntegration, Logger } from "@gitbook/runtime";

const logger = Logger("starter");

// Pages contain it as {% @NAME/greeting name="Ada" %}, where NAME is the name of the integration in the manifest.
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
      logger.info(`the space ${event.spaceId} has a new revision: ${event.revisionId}`);
    },
  },
});
