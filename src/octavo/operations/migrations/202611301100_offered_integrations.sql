-- Integrations that the operator offers to every organization, and reserved names of built-in integrations.
ALTER TABLE integrations ADD COLUMN offered INTEGER NOT NULL DEFAULT 0;
UPDATE integrations SET visibility = 'private' WHERE name IN ('oidc-sign-in', 'plausible', 'slack');
