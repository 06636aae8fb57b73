-- Redirects can be drafts next to the live redirect of the same source, can append the text matched by a wildcard, and
-- can be permanent.
-- only: sqlite
-- SQLite can't change a key in place.
CREATE TABLE redirects_with_drafts (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  source TEXT NOT NULL,
  source_key TEXT NOT NULL,
  kind TEXT NOT NULL,
  section_id TEXT REFERENCES site_sections(id) ON DELETE CASCADE,
  site_space_id TEXT REFERENCES site_spaces(id) ON DELETE CASCADE,
  page_id TEXT,
  url TEXT,
  created_at BIGINT NOT NULL,
  draft INTEGER NOT NULL DEFAULT 0,
  capture INTEGER NOT NULL DEFAULT 0,
  permanent INTEGER NOT NULL DEFAULT 0,
  updated_at BIGINT,
  UNIQUE (site_id, source_key, draft)
);
INSERT INTO redirects_with_drafts
    (id, site_id, source, source_key, kind, section_id, site_space_id, page_id, url, created_at)
  SELECT id, site_id, source, source_key, kind, section_id, site_space_id, page_id, url, created_at
  FROM site_redirects;
DROP TABLE site_redirects;
ALTER TABLE redirects_with_drafts RENAME TO site_redirects;
CREATE INDEX site_redirects_by_site ON site_redirects (site_id, id);
CREATE INDEX site_redirects_by_section ON site_redirects (section_id);
CREATE INDEX site_redirects_by_site_space ON site_redirects (site_space_id);
CREATE TRIGGER site_redirects_made AFTER INSERT ON site_redirects
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (NEW.site_id); END;
CREATE TRIGGER site_redirects_changed AFTER UPDATE ON site_redirects
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id, NEW.site_id); END;
CREATE TRIGGER site_redirects_gone AFTER DELETE ON site_redirects
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id); END;
-- end
-- only: postgresql
ALTER TABLE site_redirects ADD COLUMN draft INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_redirects ADD COLUMN capture INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_redirects ADD COLUMN permanent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_redirects ADD COLUMN updated_at BIGINT;
ALTER TABLE site_redirects DROP CONSTRAINT site_redirects_site_id_source_key_key;
ALTER TABLE site_redirects ADD UNIQUE (site_id, source_key, draft);
-- end
