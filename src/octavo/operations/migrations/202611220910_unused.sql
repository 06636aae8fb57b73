-- Rename released content to unused content, and the kinds of jobs to consistent names.

ALTER TABLE leftovers RENAME TO unused;
ALTER TABLE unused RENAME COLUMN left_at TO released_at;
DROP INDEX leftovers_by_age;
CREATE INDEX unused_by_age ON unused (released_at);
UPDATE unused SET kind = 'text' WHERE kind = 'body';
-- only: postgresql
ALTER TABLE unused RENAME CONSTRAINT leftovers_pkey TO unused_pkey;
-- end
DELETE FROM schedules WHERE name = 'sweepLeftovers';
DELETE FROM jobs WHERE kind = 'sweepLeftovers';
UPDATE jobs SET kind = 'deliverEvent' WHERE kind = 'deliver-event';
