import {
  createComponent, createIntegration, createOAuthHandler, ExposableError, Logger,
} from "@gitbook/runtime";

const logger = Logger("greetings");

const greeting = createComponent({
  componentId: "greeting",
  initialState: (props: { name?: string }) => ({ name: props.name ?? "nobody", times: 0 }),
  async action(element, action: { action: string }) {
    if (action.action === "again") return { state: { ...element.state, times: element.state.times + 1 } };
    return {};
  },
  async render(element, context) {
    const { name, times } = element.state;
    return (
      <block>
        <card title={`Hello ${name}`} onPress={{ action: "again" }}>
          <text>{`${times} times, said ${context.environment.integration.title}`}</text>
        </card>
      </block>
    );
  },
});

export default createIntegration({
  components: [greeting],
  events: {
    installation_setup: async (event, context) => {
      logger.info(`installed as ${event.status} in ${context.environment.installation?.target.organization}`);
    },
  },
  task: async (task: any) => {
    logger.info(`task ${JSON.stringify(task)}`);
  },
  fetch: async (request, context) => {
    const url = new URL(request.url);
    const base = context.environment.spaceInstallation?.urls.publicEndpoint ?? "";
    if (url.pathname === `${new URL(base).pathname}/refuse`) throw new ExposableError("not here", 403);
    const { data } = await context.api.spaces.getSpaceById(context.environment.spaceInstallation!.space);
    await context.integration.queueTask({ task: { greet: data.title } });
    return new Response(`${request.method} ${data.title} ${await request.text()}`);
  },
});
void createOAuthHandler;
