-- Clients of different people can have the same ID.
DROP INDEX page_steps_by_client;
CREATE UNIQUE INDEX page_steps_by_client ON page_steps (branch_id, page_id, client, batch, user_id);
