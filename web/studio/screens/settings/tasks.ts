/** Tasks: what is to be written, and the change request that each becomes. */
import type { Schemas } from "../../../shared/client.ts";
import { address } from "../../addresses.ts";
import { getChangeRequestById } from "../../api/changes.ts";
import { createAgentTask, updateAgentTask } from "../../api/search.ts";
import { router } from "../../state/router.svelte.ts";

type Task = Schemas["AgentTask"];

export const setStatus = (organization: string, task: string, status: Schemas["UpdateTask"]["status"]) =>
  updateAgentTask({ organizationId: organization, agentTaskId: task }, { status });

/** Opens the change request of a task. */
export async function openChange(task: Task): Promise<void> {
  const change = await getChangeRequestById({ spaceId: task.space, changeRequestId: task.changeRequest! });
  await router.go(address.change(task.space, change.number));
}

/** Notes that something is to be written, and begins with it. */
export async function begin(organization: string, body: Schemas["CreateTask"]): Promise<void> {
  const made = await createAgentTask({ organizationId: organization }, body);
  await openChange(await setStatus(organization, made.id, "started"));
}
