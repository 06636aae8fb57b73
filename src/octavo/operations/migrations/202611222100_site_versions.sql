-- Number for each site that increases with every change of what visitors see, except the content of its spaces. Cached
-- responses are valid as long as it is unchanged. It starts at a random value, so that a restored site has a different
-- number.

CREATE TABLE site_versions (
  site_id TEXT PRIMARY KEY,
  version BIGINT NOT NULL
);

-- only: sqlite
INSERT INTO site_versions (site_id, version) SELECT id, abs(random() / 2) FROM sites;
CREATE TRIGGER sites_made AFTER INSERT ON sites
  BEGIN INSERT OR REPLACE INTO site_versions (site_id, version) VALUES (NEW.id, abs(random() / 2)); END;
CREATE TRIGGER sites_changed AFTER UPDATE ON sites
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id = NEW.id; END;
CREATE TRIGGER sites_gone AFTER DELETE ON sites
  BEGIN DELETE FROM site_versions WHERE site_id = OLD.id; END;
CREATE TRIGGER spaces_of_sites_changed
  AFTER UPDATE OF organization_id, title, emoji, icon, language, main_branch, deleted_at ON spaces
  BEGIN UPDATE site_versions SET version = version + 1
    WHERE site_id IN (SELECT site_id FROM site_spaces WHERE space_id = NEW.id); END;
CREATE TRIGGER site_spaces_made AFTER INSERT ON site_spaces
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (NEW.site_id); END;
CREATE TRIGGER site_spaces_changed AFTER UPDATE ON site_spaces
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id, NEW.site_id); END;
CREATE TRIGGER site_spaces_gone AFTER DELETE ON site_spaces
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id); END;
CREATE TRIGGER site_section_groups_made AFTER INSERT ON site_section_groups
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (NEW.site_id); END;
CREATE TRIGGER site_section_groups_changed AFTER UPDATE ON site_section_groups
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id, NEW.site_id); END;
CREATE TRIGGER site_section_groups_gone AFTER DELETE ON site_section_groups
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id); END;
CREATE TRIGGER site_sections_made AFTER INSERT ON site_sections
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (NEW.site_id); END;
CREATE TRIGGER site_sections_changed AFTER UPDATE ON site_sections
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id, NEW.site_id); END;
CREATE TRIGGER site_sections_gone AFTER DELETE ON site_sections
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id); END;
CREATE TRIGGER site_former_paths_made AFTER INSERT ON site_former_paths
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (NEW.site_id); END;
CREATE TRIGGER site_former_paths_changed AFTER UPDATE ON site_former_paths
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id, NEW.site_id); END;
CREATE TRIGGER site_former_paths_gone AFTER DELETE ON site_former_paths
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id); END;
CREATE TRIGGER site_former_names_made AFTER INSERT ON site_former_names
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (NEW.site_id); END;
CREATE TRIGGER site_former_names_changed AFTER UPDATE ON site_former_names
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id, NEW.site_id); END;
CREATE TRIGGER site_former_names_gone AFTER DELETE ON site_former_names
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id); END;
CREATE TRIGGER share_links_made AFTER INSERT ON share_links
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (NEW.site_id); END;
CREATE TRIGGER share_links_changed AFTER UPDATE ON share_links
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id, NEW.site_id); END;
CREATE TRIGGER share_links_gone AFTER DELETE ON share_links
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id); END;
CREATE TRIGGER site_redirects_made AFTER INSERT ON site_redirects
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (NEW.site_id); END;
CREATE TRIGGER site_redirects_changed AFTER UPDATE ON site_redirects
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id, NEW.site_id); END;
CREATE TRIGGER site_redirects_gone AFTER DELETE ON site_redirects
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id IN (OLD.site_id); END;
CREATE TRIGGER fonts_made AFTER INSERT ON fonts
  BEGIN UPDATE site_versions SET version = version + 1
    WHERE site_id IN (SELECT id FROM sites WHERE organization_id = NEW.organization_id); END;
CREATE TRIGGER fonts_changed AFTER UPDATE ON fonts
  BEGIN UPDATE site_versions SET version = version + 1
    WHERE site_id IN (SELECT id FROM sites WHERE organization_id = NEW.organization_id); END;
CREATE TRIGGER fonts_gone AFTER DELETE ON fonts
  BEGIN UPDATE site_versions SET version = version + 1
    WHERE site_id IN (SELECT id FROM sites WHERE organization_id = OLD.organization_id); END;
CREATE TRIGGER font_faces_made AFTER INSERT ON font_faces
  BEGIN UPDATE site_versions SET version = version + 1
    WHERE site_id IN (SELECT id FROM sites WHERE organization_id = (SELECT organization_id FROM fonts WHERE id = NEW.font_id)); END;
CREATE TRIGGER font_faces_changed AFTER UPDATE ON font_faces
  BEGIN UPDATE site_versions SET version = version + 1
    WHERE site_id IN (SELECT id FROM sites WHERE organization_id = (SELECT organization_id FROM fonts WHERE id = NEW.font_id)); END;
CREATE TRIGGER font_faces_gone AFTER DELETE ON font_faces
  BEGIN UPDATE site_versions SET version = version + 1
    WHERE site_id IN (SELECT id FROM sites WHERE organization_id = (SELECT organization_id FROM fonts WHERE id = OLD.font_id)); END;
-- end

-- only: postgresql
INSERT INTO site_versions (site_id, version) SELECT id, floor(random() * 4e18)::bigint FROM sites;
CREATE FUNCTION site_changed() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP <> 'INSERT' THEN
      UPDATE site_versions SET version = version + 1 WHERE site_id = OLD.site_id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
      UPDATE site_versions SET version = version + 1 WHERE site_id = NEW.site_id;
    END IF;
    RETURN NULL;
  END $$;
CREATE FUNCTION site_itself_changed() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'DELETE' THEN
      DELETE FROM site_versions WHERE site_id = OLD.id;
    ELSIF TG_OP = 'INSERT' THEN
      INSERT INTO site_versions (site_id, version) VALUES (NEW.id, floor(random() * 4e18)::bigint)
        ON CONFLICT (site_id) DO UPDATE SET version = excluded.version;
    ELSE
      UPDATE site_versions SET version = version + 1 WHERE site_id = NEW.id;
    END IF;
    RETURN NULL;
  END $$;
CREATE FUNCTION space_of_sites_changed() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE site_versions SET version = version + 1
      WHERE site_id IN (SELECT site_id FROM site_spaces WHERE space_id = NEW.id);
    RETURN NULL;
  END $$;
CREATE TRIGGER sites_changed AFTER INSERT OR UPDATE OR DELETE ON sites
  FOR EACH ROW EXECUTE FUNCTION site_itself_changed();
CREATE TRIGGER spaces_of_sites_changed
  AFTER UPDATE OF organization_id, title, emoji, icon, language, main_branch, deleted_at ON spaces
  FOR EACH ROW EXECUTE FUNCTION space_of_sites_changed();
CREATE TRIGGER site_spaces_changed AFTER INSERT OR UPDATE OR DELETE ON site_spaces
  FOR EACH ROW EXECUTE FUNCTION site_changed();
CREATE TRIGGER site_section_groups_changed AFTER INSERT OR UPDATE OR DELETE ON site_section_groups
  FOR EACH ROW EXECUTE FUNCTION site_changed();
CREATE TRIGGER site_sections_changed AFTER INSERT OR UPDATE OR DELETE ON site_sections
  FOR EACH ROW EXECUTE FUNCTION site_changed();
CREATE TRIGGER site_former_paths_changed AFTER INSERT OR UPDATE OR DELETE ON site_former_paths
  FOR EACH ROW EXECUTE FUNCTION site_changed();
CREATE TRIGGER site_former_names_changed AFTER INSERT OR UPDATE OR DELETE ON site_former_names
  FOR EACH ROW EXECUTE FUNCTION site_changed();
CREATE TRIGGER share_links_changed AFTER INSERT OR UPDATE OR DELETE ON share_links
  FOR EACH ROW EXECUTE FUNCTION site_changed();
CREATE TRIGGER site_redirects_changed AFTER INSERT OR UPDATE OR DELETE ON site_redirects
  FOR EACH ROW EXECUTE FUNCTION site_changed();
CREATE FUNCTION font_of_sites_changed() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    owner TEXT;
  BEGIN
    IF TG_TABLE_NAME = 'fonts' THEN
      owner := CASE TG_OP WHEN 'DELETE' THEN OLD.organization_id ELSE NEW.organization_id END;
    ELSE
      SELECT organization_id INTO owner FROM fonts
        WHERE id = CASE TG_OP WHEN 'DELETE' THEN OLD.font_id ELSE NEW.font_id END;
    END IF;
    UPDATE site_versions SET version = version + 1
      WHERE site_id IN (SELECT id FROM sites WHERE organization_id = owner);
    RETURN NULL;
  END $$;
CREATE TRIGGER fonts_changed AFTER INSERT OR UPDATE OR DELETE ON fonts
  FOR EACH ROW EXECUTE FUNCTION font_of_sites_changed();
CREATE TRIGGER font_faces_changed AFTER INSERT OR UPDATE OR DELETE ON font_faces
  FOR EACH ROW EXECUTE FUNCTION font_of_sites_changed();
-- end
