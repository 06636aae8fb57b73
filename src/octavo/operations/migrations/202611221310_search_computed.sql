-- Computed pages are indexed by a job whenever their sources change.
ALTER TABLE search_pages ADD COLUMN computed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX search_pages_computed ON search_pages (space_id) WHERE computed = 1;
