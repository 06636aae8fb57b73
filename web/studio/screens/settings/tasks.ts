/** Writing tasks, and the change requests for them. */
import type { Schemas } from "../../../shared/client.ts";
import { address } from "../../addresses.ts";
import { getChangeRequestById } from "../../api/changes.ts";
import { createAgentTask, updateAgentTask } from "../../api/search.ts";
import { router } from "../../state/router.svelte.ts";

type Task = Schemas["AgentTask"];

export const setStatus = (organization: string, task: string, status: Schemas["UpdateTask"]["status"]) =>
  updateAgentTask({ organizationId: organization, agentTaskId: task }, { status });

/** Open the change request of a task. */
export async function openChange(task: Task): Promise<void> {
  const change = await getChangeRequestById({ spaceId: task.space, changeRequestId: task.changeRequest! });
  await router.go(address.change(task.space, change.number));
}

/** Create a task, and start writing. */
export async function begin(organization: string, body: Schemas["CreateTask"]): Promise<void> {
  const made = await createAgentTask({ organizationId: organization }, body);
  await openChange(await setStatus(organization, made.id, "started"));
}
