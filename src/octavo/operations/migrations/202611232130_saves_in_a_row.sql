-- Consecutive saves by one person are shown as one revision: sequence before the first of them; NULL for a separate
-- revision.
ALTER TABLE revisions ADD COLUMN saves_since BIGINT;
