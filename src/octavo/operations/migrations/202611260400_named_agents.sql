-- Name of the agent that the person used, at that time; NULL if they used none.
ALTER TABLE revisions ADD COLUMN agent TEXT;
ALTER TABLE change_requests ADD COLUMN agent TEXT;
ALTER TABLE change_reviews ADD COLUMN agent TEXT;
ALTER TABLE comments ADD COLUMN agent TEXT;
ALTER TABLE audit_events ADD COLUMN agent TEXT;
