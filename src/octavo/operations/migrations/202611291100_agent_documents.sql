-- Until when what a program's own document said of it counts; NULL for programs that registered.
ALTER TABLE agent_clients ADD COLUMN fresh_until BIGINT;
