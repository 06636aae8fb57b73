-- Data derived from main is written next to the current data and becomes active with the revision, so its rows have a
-- version.

-- Current version of the data derived from a page or reusable content; 0 without a row.
CREATE TABLE derived_versions (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  owner_id TEXT NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (space_id, owner_id)
);

-- Versions that are being written and that no revision has activated yet.
CREATE TABLE staged_versions (
  version BIGINT PRIMARY KEY,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  began_at BIGINT NOT NULL
);
CREATE INDEX staged_versions_by_space ON staged_versions (space_id);

ALTER TABLE search_sections ADD COLUMN version BIGINT NOT NULL DEFAULT 0;

-- only: postgresql
ALTER TABLE search_pages ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE search_pages DROP CONSTRAINT search_pages_pkey;
ALTER TABLE search_pages ADD PRIMARY KEY (space_id, page_id, version);
ALTER TABLE content_references ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE content_references DROP CONSTRAINT content_references_pkey;
ALTER TABLE content_references ADD PRIMARY KEY (space_id, owner_id, version, place);
ALTER TABLE reference_questions ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE reference_questions DROP CONSTRAINT reference_questions_pkey;
ALTER TABLE reference_questions ADD PRIMARY KEY (asked_in, question, space_id, owner_id, version, place);
DROP INDEX reference_questions_by_owner;
-- end
-- only: sqlite
-- SQLite can't change a key in place.
CREATE TABLE versioned (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  titles TEXT NOT NULL,
  words TEXT NOT NULL,
  computed INTEGER NOT NULL DEFAULT 0,
  version BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (space_id, page_id, version)
);
INSERT INTO versioned (space_id, page_id, titles, words, computed)
  SELECT space_id, page_id, titles, words, computed FROM search_pages;
DROP TABLE search_pages;
ALTER TABLE versioned RENAME TO search_pages;
CREATE INDEX search_pages_computed ON search_pages (space_id) WHERE computed = 1;

CREATE TABLE versioned (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  owner_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  owner_kind TEXT NOT NULL,
  node TEXT,
  type TEXT NOT NULL,
  relation TEXT NOT NULL,
  written TEXT NOT NULL,
  kind TEXT NOT NULL,
  target_space TEXT,
  target TEXT,
  anchor TEXT,
  status TEXT NOT NULL,
  target_key TEXT NOT NULL,
  asked TEXT NOT NULL,
  version BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (space_id, owner_id, version, place)
);
INSERT INTO versioned (space_id, owner_id, place, owner_kind, node, type, relation, written, kind, target_space,
  target, anchor, status, target_key, asked)
  SELECT space_id, owner_id, place, owner_kind, node, type, relation, written, kind, target_space,
  target, anchor, status, target_key, asked
  FROM content_references;
DROP TABLE content_references;
ALTER TABLE versioned RENAME TO content_references;
CREATE INDEX content_references_by_key ON content_references (space_id, target_key);
CREATE INDEX content_references_by_target ON content_references (target_space, target);
CREATE INDEX content_references_by_neighbour ON content_references (space_id, target_space);
CREATE INDEX content_references_by_kind ON content_references (space_id, kind, target);
CREATE INDEX content_references_from ON content_references (target_space, space_id);

CREATE TABLE versioned (
  asked_in TEXT NOT NULL,
  question TEXT NOT NULL,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  owner_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  version BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (asked_in, question, space_id, owner_id, version, place)
);
INSERT INTO versioned (asked_in, question, space_id, owner_id, place)
  SELECT asked_in, question, space_id, owner_id, place FROM reference_questions;
DROP TABLE reference_questions;
ALTER TABLE versioned RENAME TO reference_questions;
-- end
CREATE INDEX reference_questions_by_owner ON reference_questions (space_id, owner_id, version, place);
