-- Space that follows another one in a different language. instructions: JSON of a document. problems: JSON. run: the
-- run that may write; a canceled or later run has a different value. done, total: pages of the current run.
CREATE TABLE translations (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  source_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  source_language TEXT NOT NULL,
  language TEXT NOT NULL,
  instructions TEXT NOT NULL,
  status TEXT NOT NULL,
  run TEXT,
  run_by TEXT NOT NULL,
  revision TEXT NOT NULL,
  runs INTEGER NOT NULL DEFAULT 0,
  total_words INTEGER NOT NULL DEFAULT 0,
  total_pages INTEGER NOT NULL DEFAULT 0,
  total_duration BIGINT NOT NULL DEFAULT 0,
  latest_duration BIGINT NOT NULL DEFAULT 0,
  latest_pages INTEGER NOT NULL DEFAULT 0,
  latest_words INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0,
  untranslated INTEGER NOT NULL DEFAULT 0,
  notice TEXT,
  problems TEXT NOT NULL DEFAULT '[]',
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX translations_by_organization ON translations (organization_id, id);
CREATE UNIQUE INDEX translations_by_source ON translations (source_id, language);
CREATE UNIQUE INDEX translations_by_space ON translations (space_id);

-- Result of a run for each page and reusable content. seen: hash of all source content. source_body, body: the texts of
-- both at that time. missing: number of texts that are still in the source language.
CREATE TABLE translated_parts (
  translation_id TEXT NOT NULL REFERENCES translations(id) ON DELETE CASCADE,
  part_id TEXT NOT NULL,
  seen TEXT NOT NULL,
  source_body TEXT,
  body TEXT,
  missing INTEGER NOT NULL,
  PRIMARY KEY (translation_id, part_id)
);
CREATE INDEX translated_parts_by_source_body ON translated_parts (source_body);
CREATE INDEX translated_parts_by_body ON translated_parts (body);

-- Translated texts, shared by all spaces of an organization. origin: machine or person; human translations are kept.
CREATE TABLE translation_memory (
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  source_language TEXT NOT NULL,
  language TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  source TEXT NOT NULL,
  target TEXT NOT NULL,
  origin TEXT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, source_language, language, fingerprint)
);

-- Words with fixed translations: JSON that maps languages to words.
CREATE TABLE glossary_entries (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  translations TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX glossary_entries_by_organization ON glossary_entries (organization_id, id);
