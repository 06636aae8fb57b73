-- Expiration of the data in an app's client metadata document; NULL for apps that registered.
ALTER TABLE agent_clients ADD COLUMN fresh_until BIGINT;
