-- Words are looked up together with the space or organization that contains them.

DROP TABLE search_index;
DROP TABLE search_sections;
DROP TABLE search_words;
DELETE FROM search_pages;

CREATE TABLE search_sections (
  id SERIAL_KEY,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  anchor TEXT,                           -- NULL: before the first heading
  heading TEXT NOT NULL,
  body TEXT NOT NULL,                    -- plain text for quotations
  conditions TEXT                        -- JSON: expressions, all of which must be met; NULL: visible to everyone
);
CREATE INDEX search_sections_by_page ON search_sections (space_id, page_id);

-- Number of pages of a space that contain each word, for correcting mistyped words. There are no rows for whole
-- organizations, because all writers of an organization would wait for each other there.
CREATE TABLE search_words (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  word TEXT NOT NULL,
  pages INTEGER NOT NULL,
  organization_key TEXT NOT NULL,
  PRIMARY KEY (space_id, word)
);
CREATE INDEX search_words_by_organization ON search_words (organization_key, word, pages);

-- only: sqlite
-- Stems in their indexed form, without the keys. The index stores no texts itself, so deleting an entry requires its
-- texts.
ALTER TABLE search_sections ADD COLUMN space_key TEXT NOT NULL DEFAULT '';
ALTER TABLE search_sections ADD COLUMN organization_key TEXT NOT NULL DEFAULT '';
ALTER TABLE search_sections ADD COLUMN title_stems TEXT NOT NULL DEFAULT '';
ALTER TABLE search_sections ADD COLUMN heading_stems TEXT NOT NULL DEFAULT '';
ALTER TABLE search_sections ADD COLUMN stems TEXT NOT NULL DEFAULT '';

CREATE VIRTUAL TABLE search_index USING fts5(
  title, heading, body, content = '', tokenize = "unicode61 remove_diacritics 0 tokenchars '_'"
);
CREATE TRIGGER search_sections_made AFTER INSERT ON search_sections
  BEGIN INSERT INTO search_index (rowid, title, heading, body) VALUES (
    NEW.id,
    CASE NEW.title_stems WHEN '' THEN '' ELSE
      NEW.space_key || '_' || replace(NEW.title_stems, ' ', ' ' || NEW.space_key || '_') || ' ' ||
      NEW.organization_key || '_' || replace(NEW.title_stems, ' ', ' ' || NEW.organization_key || '_') END,
    CASE NEW.heading_stems WHEN '' THEN '' ELSE
      NEW.space_key || '_' || replace(NEW.heading_stems, ' ', ' ' || NEW.space_key || '_') || ' ' ||
      NEW.organization_key || '_' || replace(NEW.heading_stems, ' ', ' ' || NEW.organization_key || '_') END,
    CASE NEW.stems WHEN '' THEN '' ELSE
      NEW.space_key || '_' || replace(NEW.stems, ' ', ' ' || NEW.space_key || '_') || ' ' ||
      NEW.organization_key || '_' || replace(NEW.stems, ' ', ' ' || NEW.organization_key || '_') END);
  END;
CREATE TRIGGER search_sections_gone AFTER DELETE ON search_sections
  BEGIN INSERT INTO search_index (search_index, rowid, title, heading, body) VALUES (
    'delete',
    OLD.id,
    CASE OLD.title_stems WHEN '' THEN '' ELSE
      OLD.space_key || '_' || replace(OLD.title_stems, ' ', ' ' || OLD.space_key || '_') || ' ' ||
      OLD.organization_key || '_' || replace(OLD.title_stems, ' ', ' ' || OLD.organization_key || '_') END,
    CASE OLD.heading_stems WHEN '' THEN '' ELSE
      OLD.space_key || '_' || replace(OLD.heading_stems, ' ', ' ' || OLD.space_key || '_') || ' ' ||
      OLD.organization_key || '_' || replace(OLD.heading_stems, ' ', ' ' || OLD.organization_key || '_') END,
    CASE OLD.stems WHEN '' THEN '' ELSE
      OLD.space_key || '_' || replace(OLD.stems, ' ', ' ' || OLD.space_key || '_') || ' ' ||
      OLD.organization_key || '_' || replace(OLD.stems, ' ', ' ' || OLD.organization_key || '_') END);
  END;
-- end
-- only: postgresql
-- Without fastupdate, because a search would otherwise read the list of recent writes.
CREATE TABLE search_index (
  section_id BIGINT PRIMARY KEY REFERENCES search_sections(id) ON DELETE CASCADE,
  words TSVECTOR NOT NULL
);
CREATE INDEX search_index_words ON search_index USING gin (words) WITH (fastupdate = off);
-- end

-- Reindex all spaces.
INSERT INTO jobs (id, kind, organization_id, state, payload, unique_key, run_at, created_at)
  SELECT 'index-' || id, 'indexSpace', organization_id, 'ready', '{"space_id":"' || id || '"}', 'index-' || id, 0, 0
  FROM spaces;
