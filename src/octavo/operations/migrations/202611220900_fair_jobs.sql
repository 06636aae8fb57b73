-- Jobs have one state and belong to an organization, so that each lookup by a worker is a step in an index of few rows.

ALTER TABLE jobs ADD COLUMN organization_id TEXT NOT NULL DEFAULT '';   -- '': the server itself
ALTER TABLE jobs ADD COLUMN state TEXT NOT NULL DEFAULT 'later';        -- later, ready, running, parked
UPDATE jobs SET state = CASE WHEN parked = 1 THEN 'parked' WHEN lease_until IS NOT NULL THEN 'running' ELSE 'later' END;
DROP INDEX jobs_due;
ALTER TABLE jobs DROP COLUMN parked;
-- Each run has its own lease, so that a run that lost it can't be mistaken for the next one.
ALTER TABLE jobs RENAME COLUMN lease_owner TO lease;
CREATE INDEX jobs_ready ON jobs (kind, organization_id, run_at, id) WHERE state = 'ready';
CREATE INDEX jobs_later ON jobs (run_at) WHERE state = 'later';
CREATE INDEX jobs_running ON jobs (lease_until) WHERE state = 'running';
CREATE INDEX jobs_by_state ON jobs (state, kind, id);
