-- written: JSON of the last run's result for a page or item, and of the source's fields at that time. Differences from
-- it are edits by people.
ALTER TABLE translations ADD COLUMN formality TEXT NOT NULL DEFAULT 'default';
ALTER TABLE translated_parts ADD COLUMN written TEXT NOT NULL DEFAULT '{}';

-- manner: hash of the style instructions to the model for a text (formality, words of the glossary); '' for none.
-- space_id: the translated space for which the text was last stored; people who can see it may get the text as a
-- similar match.
ALTER TABLE translation_memory ADD COLUMN manner TEXT NOT NULL DEFAULT '';
ALTER TABLE translation_memory ADD COLUMN space_id TEXT REFERENCES spaces(id) ON DELETE SET NULL;
CREATE INDEX translation_memory_by_space ON translation_memory (space_id);

-- Numbers of which texts with mostly the same words share most.
CREATE TABLE translation_memory_signs (
  organization_id TEXT NOT NULL,
  source_language TEXT NOT NULL,
  language TEXT NOT NULL,
  sign BIGINT NOT NULL,
  fingerprint TEXT NOT NULL,
  PRIMARY KEY (organization_id, source_language, language, sign, fingerprint),
  FOREIGN KEY (organization_id, source_language, language, fingerprint)
    REFERENCES translation_memory (organization_id, source_language, language, fingerprint) ON DELETE CASCADE
);
CREATE INDEX translation_memory_signs_by_text
  ON translation_memory_signs (organization_id, source_language, language, fingerprint);
