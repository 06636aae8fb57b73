-- Specifications of APIs. A source has a URL; without one its text is that of its newest version.
CREATE TABLE openapi_specs (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  slug TEXT NOT NULL,
  source_url TEXT,
  pending TEXT,                          -- hash of a text that was handed over and waits to be processed
  visibility TEXT NOT NULL,              -- private, public
  state TEXT NOT NULL,                   -- pending, progress, complete
  generation BIGINT NOT NULL DEFAULT 0,  -- which request to process it is the newest
  version_id TEXT,                       -- the newest good version
  processed_at BIGINT,
  error_code TEXT,                       -- FETCH_TIMEOUT, FETCH_ERROR, PARSE_ERROR
  errors TEXT NOT NULL DEFAULT '[]',
  etag TEXT,                             -- of the source when it was last good
  last_modified TEXT,
  check_at BIGINT,                       -- when it is processed again
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (organization_id, slug)
);
CREATE INDEX openapi_specs_due ON openapi_specs (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX openapi_specs_by_pending ON openapi_specs (pending);

-- What a specification was, each time it changed. document: as OpenAPI 3 and in one piece, as JSON.
CREATE TABLE openapi_versions (
  id TEXT PRIMARY KEY,
  spec_id TEXT NOT NULL REFERENCES openapi_specs(id) ON DELETE CASCADE,
  number BIGINT NOT NULL,
  digest TEXT NOT NULL,                  -- of all files
  document TEXT NOT NULL,
  file TEXT NOT NULL,                    -- the document as a file to download
  size BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE (spec_id, number)
);
CREATE INDEX openapi_versions_by_document ON openapi_versions (document);
CREATE INDEX openapi_versions_by_file ON openapi_versions (file);

-- The files that a version was made of, the specification itself first.
CREATE TABLE openapi_files (
  version_id TEXT NOT NULL REFERENCES openapi_versions(id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  path TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (version_id, position)
);
CREATE INDEX openapi_files_by_body ON openapi_files (body);
