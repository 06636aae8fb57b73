-- What every organization is offered is the operator's decision; and names of built-in integrations are reserved.
ALTER TABLE integrations ADD COLUMN offered INTEGER NOT NULL DEFAULT 0;
UPDATE integrations SET visibility = 'private' WHERE name IN ('oidc-sign-in', 'plausible', 'slack');
