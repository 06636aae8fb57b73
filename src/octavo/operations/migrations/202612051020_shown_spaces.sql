-- All spaces that were ever on a site. Its questions, events, and findings can still be about them.
CREATE TABLE site_shown_spaces (
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  PRIMARY KEY (site_id, space_id)
);
CREATE INDEX site_shown_spaces_by_space ON site_shown_spaces (space_id);
INSERT INTO site_shown_spaces (site_id, space_id) SELECT DISTINCT site_id, space_id FROM site_spaces;

-- only: sqlite
CREATE TRIGGER site_spaces_shown AFTER INSERT ON site_spaces
  BEGIN INSERT INTO site_shown_spaces (site_id, space_id) VALUES (NEW.site_id, NEW.space_id)
    ON CONFLICT (site_id, space_id) DO NOTHING; END;
CREATE TRIGGER site_spaces_replaced AFTER UPDATE OF site_id, space_id ON site_spaces
  BEGIN INSERT INTO site_shown_spaces (site_id, space_id) VALUES (NEW.site_id, NEW.space_id)
    ON CONFLICT (site_id, space_id) DO NOTHING; END;
-- end

-- only: postgresql
CREATE FUNCTION site_space_shown() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO site_shown_spaces (site_id, space_id) VALUES (NEW.site_id, NEW.space_id)
      ON CONFLICT (site_id, space_id) DO NOTHING;
    RETURN NULL;
  END $$;
CREATE TRIGGER site_spaces_shown AFTER INSERT OR UPDATE OF site_id, space_id ON site_spaces
  FOR EACH ROW EXECUTE FUNCTION site_space_shown();
-- end
