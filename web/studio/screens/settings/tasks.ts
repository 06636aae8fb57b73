/** Tasks: what is to be written, and the change request that each becomes. */
import { api, ask, type Schemas } from "../../../shared/client.ts";
import { address } from "../../addresses.ts";
import { router } from "../../state/router.svelte.ts";

type Task = Schemas["AgentTask"];

export const setStatus = (organization: string, task: string, status: Schemas["UpdateTask"]["status"]) =>
  ask(api.PATCH("/orgs/{organizationId}/agent-tasks/{agentTaskId}", {
    params: { path: { organizationId: organization, agentTaskId: task } },
    body: { status },
  }));

/** Opens the change request of a task. */
export async function openChange(task: Task): Promise<void> {
  const change = await ask(api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}", {
    params: { path: { spaceId: task.space, changeRequestId: task.changeRequest! } },
  }));
  await router.go(address.change(task.space, change.number));
}

/** Notes that something is to be written, and begins with it. */
export async function begin(organization: string, body: Schemas["CreateTask"]): Promise<void> {
  const made = await ask(api.POST("/orgs/{organizationId}/agent-tasks", {
    params: { path: { organizationId: organization } },
    body,
  }));
  await openChange(await setStatus(organization, made.id, "started"));
}
