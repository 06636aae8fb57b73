-- The people who can see a page are listed without integrations.
CREATE INDEX users_integrations ON users (id) WHERE kind = 'integration';
