-- Words of titles and headings are also indexed separately, so that they are found without reading the list of all
-- texts.

-- only: sqlite
DROP TRIGGER search_sections_made;
DROP TRIGGER search_sections_gone;
DROP TABLE search_index;
CREATE VIRTUAL TABLE search_index USING fts5(
  title, heading, body, content = '', tokenize = "unicode61 remove_diacritics 0 tokenchars '_'"
);
CREATE TRIGGER search_sections_made AFTER INSERT ON search_sections
  BEGIN INSERT INTO search_index (rowid, title, heading, body) VALUES (
    NEW.id,
    CASE NEW.title_stems WHEN '' THEN '' ELSE
      NEW.space_key || '_' || replace(NEW.title_stems, ' ', ' ' || NEW.space_key || '_') || ' ' ||
      NEW.organization_key || '_' || replace(NEW.title_stems, ' ', ' ' || NEW.organization_key || '_') || ' h' ||
      NEW.space_key || '_' || replace(NEW.title_stems, ' ', ' h' || NEW.space_key || '_') || ' h' ||
      NEW.organization_key || '_' || replace(NEW.title_stems, ' ', ' h' || NEW.organization_key || '_') END,
    CASE NEW.heading_stems WHEN '' THEN '' ELSE
      NEW.space_key || '_' || replace(NEW.heading_stems, ' ', ' ' || NEW.space_key || '_') || ' ' ||
      NEW.organization_key || '_' || replace(NEW.heading_stems, ' ', ' ' || NEW.organization_key || '_') || ' h' ||
      NEW.space_key || '_' || replace(NEW.heading_stems, ' ', ' h' || NEW.space_key || '_') || ' h' ||
      NEW.organization_key || '_' || replace(NEW.heading_stems, ' ', ' h' || NEW.organization_key || '_') END,
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
      OLD.organization_key || '_' || replace(OLD.title_stems, ' ', ' ' || OLD.organization_key || '_') || ' h' ||
      OLD.space_key || '_' || replace(OLD.title_stems, ' ', ' h' || OLD.space_key || '_') || ' h' ||
      OLD.organization_key || '_' || replace(OLD.title_stems, ' ', ' h' || OLD.organization_key || '_') END,
    CASE OLD.heading_stems WHEN '' THEN '' ELSE
      OLD.space_key || '_' || replace(OLD.heading_stems, ' ', ' ' || OLD.space_key || '_') || ' ' ||
      OLD.organization_key || '_' || replace(OLD.heading_stems, ' ', ' ' || OLD.organization_key || '_') || ' h' ||
      OLD.space_key || '_' || replace(OLD.heading_stems, ' ', ' h' || OLD.space_key || '_') || ' h' ||
      OLD.organization_key || '_' || replace(OLD.heading_stems, ' ', ' h' || OLD.organization_key || '_') END,
    CASE OLD.stems WHEN '' THEN '' ELSE
      OLD.space_key || '_' || replace(OLD.stems, ' ', ' ' || OLD.space_key || '_') || ' ' ||
      OLD.organization_key || '_' || replace(OLD.stems, ' ', ' ' || OLD.organization_key || '_') END);
  END;
INSERT INTO search_index (rowid, title, heading, body) SELECT s.id,
    CASE s.title_stems WHEN '' THEN '' ELSE
      s.space_key || '_' || replace(s.title_stems, ' ', ' ' || s.space_key || '_') || ' ' ||
      s.organization_key || '_' || replace(s.title_stems, ' ', ' ' || s.organization_key || '_') || ' h' ||
      s.space_key || '_' || replace(s.title_stems, ' ', ' h' || s.space_key || '_') || ' h' ||
      s.organization_key || '_' || replace(s.title_stems, ' ', ' h' || s.organization_key || '_') END,
    CASE s.heading_stems WHEN '' THEN '' ELSE
      s.space_key || '_' || replace(s.heading_stems, ' ', ' ' || s.space_key || '_') || ' ' ||
      s.organization_key || '_' || replace(s.heading_stems, ' ', ' ' || s.organization_key || '_') || ' h' ||
      s.space_key || '_' || replace(s.heading_stems, ' ', ' h' || s.space_key || '_') || ' h' ||
      s.organization_key || '_' || replace(s.heading_stems, ' ', ' h' || s.organization_key || '_') END,
    CASE s.stems WHEN '' THEN '' ELSE
      s.space_key || '_' || replace(s.stems, ' ', ' ' || s.space_key || '_') || ' ' ||
      s.organization_key || '_' || replace(s.stems, ' ', ' ' || s.organization_key || '_') END FROM search_sections s ORDER BY s.id;
-- end
-- only: postgresql
-- Sections of a space in order, for words that most of them contain.
CREATE INDEX search_sections_in_order ON search_sections (space_id, id);
DROP INDEX search_index_words;
UPDATE search_index SET words = CAST(CAST(words AS text) || ' ' || regexp_replace(
    CAST(ts_filter(words, '{a,b}') AS text), '''([a-z2-7]{8}_)', '''h\1', 'g') AS tsvector)
  WHERE ts_filter(words, '{a,b}') <> '';
CREATE INDEX search_index_words ON search_index USING gin (words) WITH (fastupdate = off);
-- end

-- Spaces of an organization that contain a word, most pages first.
DROP INDEX search_words_by_organization;
CREATE INDEX search_words_by_organization ON search_words (organization_key, word, pages, space_id);
