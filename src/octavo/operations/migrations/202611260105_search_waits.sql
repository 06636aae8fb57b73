-- Changed long texts, which a job indexes.
ALTER TABLE search_pages ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;
CREATE INDEX search_pages_waits ON search_pages (space_id) WHERE waits = 1;
