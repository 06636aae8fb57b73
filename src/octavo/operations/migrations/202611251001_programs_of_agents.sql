CREATE INDEX agents_by_client ON agents (client_id);
