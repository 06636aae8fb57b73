-- Every part of a site's structure can be a draft; site spaces can have their own title and home page, and can be
-- hidden from the navigation; external links appear between sections.
ALTER TABLE site_section_groups ADD COLUMN draft INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_spaces ADD COLUMN title TEXT;
ALTER TABLE site_spaces ADD COLUMN page_id TEXT;
ALTER TABLE site_spaces ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_spaces ADD COLUMN draft INTEGER NOT NULL DEFAULT 0;

CREATE TABLE site_external_links (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  group_id TEXT,
  rank TEXT NOT NULL,
  title TEXT NOT NULL,
  url TEXT NOT NULL,
  description TEXT,
  icon TEXT,
  condition TEXT,
  draft INTEGER NOT NULL DEFAULT 0,
  localized TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX site_external_links_by_site ON site_external_links (site_id, rank);

-- only: sqlite
CREATE TRIGGER site_external_links_made AFTER INSERT ON site_external_links
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (NEW.site_id); END;
CREATE TRIGGER site_external_links_changed AFTER UPDATE ON site_external_links
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id, NEW.site_id); END;
CREATE TRIGGER site_external_links_gone AFTER DELETE ON site_external_links
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id); END;
-- end
-- only: postgresql
CREATE TRIGGER site_external_links_changed AFTER INSERT OR UPDATE OR DELETE ON site_external_links
  FOR EACH ROW EXECUTE FUNCTION site_changed();
-- end
