-- The program by which a person did it; null where they did it themselves. A name as it was then.
ALTER TABLE revisions ADD COLUMN agent TEXT;
ALTER TABLE change_requests ADD COLUMN agent TEXT;
ALTER TABLE change_reviews ADD COLUMN agent TEXT;
ALTER TABLE comments ADD COLUMN agent TEXT;
ALTER TABLE audit_events ADD COLUMN agent TEXT;
