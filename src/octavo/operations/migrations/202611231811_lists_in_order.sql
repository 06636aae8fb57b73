-- Indexes for listing spaces and collections in display order.

CREATE INDEX collections_by_level ON collections (organization_id, default_level, id);
CREATE INDEX spaces_by_place ON spaces (organization_id, collection_id, deleted_at, id);
CREATE INDEX spaces_in_order ON spaces (organization_id, (COALESCE(collection_id, '')), rank, id) WHERE deleted_at IS NULL;
CREATE INDEX collections_in_order ON collections (organization_id, (COALESCE(parent_id, '')), rank, id)
  WHERE deleted_at IS NULL;

-- The organization of a change request is that of its space; the index for the list of an organization starts with it.
ALTER TABLE change_requests ADD COLUMN organization_id TEXT REFERENCES organizations(id) ON DELETE CASCADE;
UPDATE change_requests SET organization_id = (SELECT s.organization_id FROM spaces s WHERE s.id = space_id);
CREATE INDEX change_requests_by_organization ON change_requests (organization_id, status, id);

-- only: sqlite
CREATE TRIGGER change_requests_made AFTER INSERT ON change_requests
  BEGIN UPDATE change_requests SET organization_id = (SELECT organization_id FROM spaces WHERE id = NEW.space_id)
    WHERE id = NEW.id; END;
CREATE TRIGGER spaces_of_change_requests_moved AFTER UPDATE OF organization_id ON spaces
  BEGIN UPDATE change_requests SET organization_id = NEW.organization_id WHERE space_id = NEW.id; END;
-- end
-- only: postgresql
CREATE FUNCTION place_change_request() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.organization_id := (SELECT organization_id FROM spaces WHERE id = NEW.space_id);
    RETURN NEW;
  END $$;
CREATE TRIGGER change_requests_made BEFORE INSERT ON change_requests
  FOR EACH ROW EXECUTE FUNCTION place_change_request();
CREATE FUNCTION move_change_requests() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE change_requests SET organization_id = NEW.organization_id WHERE space_id = NEW.id;
    RETURN NULL;
  END $$;
CREATE TRIGGER spaces_of_change_requests_moved AFTER UPDATE OF organization_id ON spaces
  FOR EACH ROW EXECUTE FUNCTION move_change_requests();
-- end

CREATE INDEX members_by_last_seen ON members (organization_id, (COALESCE(last_seen_at, 0)), user_id);
CREATE INDEX sites_by_organization ON sites (organization_id, id);
