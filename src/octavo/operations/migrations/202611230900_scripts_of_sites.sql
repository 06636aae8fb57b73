-- Scripts that integrations add to pages of sites are visible to visitors, so they change the version of the sites on
-- which an integration is installed.

-- only: sqlite
CREATE TRIGGER integration_places_made AFTER INSERT ON integration_places
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id = NEW.site_id; END;
CREATE TRIGGER integration_places_changed AFTER UPDATE ON integration_places
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id = NEW.site_id; END;
CREATE TRIGGER integration_places_gone AFTER DELETE ON integration_places
  BEGIN UPDATE site_versions SET version = version + 1 WHERE site_id = OLD.site_id; END;
CREATE TRIGGER integration_installations_changed AFTER UPDATE ON integration_installations
  BEGIN UPDATE site_versions SET version = version + 1
    WHERE site_id IN (SELECT site_id FROM integration_places WHERE installation_id = NEW.id); END;
CREATE TRIGGER integrations_changed AFTER UPDATE ON integrations
  BEGIN UPDATE site_versions SET version = version + 1
    WHERE site_id IN (SELECT p.site_id FROM integration_places p
      JOIN integration_installations n ON n.id = p.installation_id WHERE n.integration_id = NEW.id); END;
CREATE TRIGGER integration_tags_made AFTER INSERT ON integration_tags WHEN NEW.kind = 'scope'
  BEGIN UPDATE site_versions SET version = version + 1
    WHERE site_id IN (SELECT p.site_id FROM integration_places p
      JOIN integration_installations n ON n.id = p.installation_id WHERE n.integration_id = NEW.integration_id); END;
CREATE TRIGGER integration_tags_gone AFTER DELETE ON integration_tags WHEN OLD.kind = 'scope'
  BEGIN UPDATE site_versions SET version = version + 1
    WHERE site_id IN (SELECT p.site_id FROM integration_places p
      JOIN integration_installations n ON n.id = p.installation_id WHERE n.integration_id = OLD.integration_id); END;
-- end

-- only: postgresql
CREATE FUNCTION integration_place_of_site_changed() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE site_versions SET version = version + 1
      WHERE site_id = CASE TG_OP WHEN 'DELETE' THEN OLD.site_id ELSE NEW.site_id END;
    RETURN NULL;
  END $$;
CREATE FUNCTION integration_of_sites_changed() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    installation TEXT;
    integration TEXT;
  BEGIN
    IF TG_TABLE_NAME = 'integration_installations' THEN
      installation := NEW.id;
    ELSIF TG_TABLE_NAME = 'integrations' THEN
      integration := NEW.id;
    ELSE
      integration := CASE TG_OP WHEN 'DELETE' THEN OLD.integration_id ELSE NEW.integration_id END;
    END IF;
    UPDATE site_versions SET version = version + 1
      WHERE site_id IN (SELECT p.site_id FROM integration_places p
        JOIN integration_installations n ON n.id = p.installation_id
        WHERE n.id = installation OR n.integration_id = integration);
    RETURN NULL;
  END $$;
CREATE TRIGGER integration_places_changed AFTER INSERT OR UPDATE OR DELETE ON integration_places
  FOR EACH ROW EXECUTE FUNCTION integration_place_of_site_changed();
CREATE TRIGGER integration_installations_changed AFTER UPDATE ON integration_installations
  FOR EACH ROW EXECUTE FUNCTION integration_of_sites_changed();
CREATE TRIGGER integrations_changed AFTER UPDATE ON integrations
  FOR EACH ROW EXECUTE FUNCTION integration_of_sites_changed();
CREATE TRIGGER integration_tags_changed AFTER INSERT OR DELETE ON integration_tags
  FOR EACH ROW EXECUTE FUNCTION integration_of_sites_changed();
-- end
