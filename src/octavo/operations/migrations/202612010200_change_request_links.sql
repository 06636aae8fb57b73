-- Links of change requests to issues and other pages outside of Octavo, and lists by the last update.
ALTER TABLE change_requests ADD COLUMN links TEXT;
CREATE INDEX change_requests_of_space_by_update ON change_requests (space_id, status, updated_at, id);
CREATE INDEX change_requests_by_update ON change_requests (organization_id, status, updated_at, id);
