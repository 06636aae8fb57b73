-- API specifications. A source has a URL; otherwise, its text is that of its newest version.
CREATE TABLE openapi_specs (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  slug TEXT NOT NULL,
  source_url TEXT,
  pending TEXT,                          -- hash of a submitted text that has not been processed yet
  visibility TEXT NOT NULL,              -- private, public
  state TEXT NOT NULL,                   -- pending, progress, complete
  generation BIGINT NOT NULL DEFAULT 0,  -- number of the newest request to process it
  version_id TEXT,                       -- newest valid version
  processed_at BIGINT,
  error_code TEXT,                       -- FETCH_TIMEOUT, FETCH_ERROR, PARSE_ERROR
  errors TEXT NOT NULL DEFAULT '[]',
  etag TEXT,                             -- ETag of the source at its last successful fetch
  last_modified TEXT,
  check_at BIGINT,                       -- time at which it is processed again
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (organization_id, slug)
);
CREATE INDEX openapi_specs_due ON openapi_specs (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX openapi_specs_by_pending ON openapi_specs (pending);

-- Versions of specifications. document: as one OpenAPI 3 document in JSON.
CREATE TABLE openapi_versions (
  id TEXT PRIMARY KEY,
  spec_id TEXT NOT NULL REFERENCES openapi_specs(id) ON DELETE CASCADE,
  number BIGINT NOT NULL,
  digest TEXT NOT NULL,                  -- hash of all files
  document TEXT NOT NULL,
  file TEXT NOT NULL,                    -- the document as a file for download
  size BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE (spec_id, number)
);
CREATE INDEX openapi_versions_by_document ON openapi_versions (document);
CREATE INDEX openapi_versions_by_file ON openapi_versions (file);

-- Files of a version, the specification itself first.
CREATE TABLE openapi_files (
  version_id TEXT NOT NULL REFERENCES openapi_versions(id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  path TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (version_id, position)
);
CREATE INDEX openapi_files_by_body ON openapi_files (body);
