-- written: JSON of what the last run made of a page or item, and of the source's fields then. What people changed since
-- is what differs from it.
ALTER TABLE translations ADD COLUMN formality TEXT NOT NULL DEFAULT 'default';
ALTER TABLE translated_parts ADD COLUMN written TEXT NOT NULL DEFAULT '{}';

-- manner: what a model was told of the manner of a text (formality, words of the glossary), as a hash; '' for nothing.
-- space_id: the translated space that the text was last remembered for; who sees that may be shown it as a near match.
ALTER TABLE translation_memory ADD COLUMN manner TEXT NOT NULL DEFAULT '';
ALTER TABLE translation_memory ADD COLUMN space_id TEXT REFERENCES spaces(id) ON DELETE SET NULL;
CREATE INDEX translation_memory_by_space ON translation_memory (space_id);

-- Texts that share most of their words share most of these numbers.
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
