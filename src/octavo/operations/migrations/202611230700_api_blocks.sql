-- API specifications in files of a space, by the hash of the file.
CREATE TABLE openapi_sources (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  content TEXT NOT NULL,
  state TEXT NOT NULL,                   -- waiting, good, bad
  document TEXT,                         -- bundled OpenAPI 3 document in JSON
  complaint TEXT,                        -- first problem
  PRIMARY KEY (space_id, content)
);
CREATE INDEX openapi_sources_waiting ON openapi_sources (space_id) WHERE state = 'waiting';

-- Pages with blocks rendered from other data, whose text a job indexes.
ALTER TABLE search_pages ADD COLUMN draws INTEGER NOT NULL DEFAULT 0;
CREATE INDEX search_pages_draws ON search_pages (space_id) WHERE draws = 1;

-- Rebuild the derived data of spaces that may have either.
INSERT INTO jobs (id, kind, organization_id, state, payload, unique_key, run_at, created_at)
  SELECT 'index-' || id, 'indexSpace', organization_id, 'ready', '{"space_id":"' || id || '"}', 'index-' || id, 0, 0
  FROM spaces WHERE id IN (SELECT space_id FROM content_references
    WHERE type IN ('swagger', 'openapi-operation', 'openapi-schemas', 'openapi-webhook'))
  ON CONFLICT (unique_key) DO NOTHING;
