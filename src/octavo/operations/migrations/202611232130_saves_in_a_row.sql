-- Saves of one person in a row are one revision for people: the sequence that was before the first of them; null for a
-- revision of its own.
ALTER TABLE revisions ADD COLUMN saves_since BIGINT;
