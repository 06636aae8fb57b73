-- Conflicts of a change request that somebody settled, until it is brought up to date again or merged: what opens them
-- again.
CREATE TABLE change_settlements (
  change_id TEXT NOT NULL REFERENCES change_requests (id) ON DELETE CASCADE,
  conflict_id TEXT NOT NULL,
  position INTEGER NOT NULL,             -- among all conflicts of the change request, open and settled
  conflicts TEXT NOT NULL,               -- JSON: the conflict as it was open, then those that were settled with it
  choice TEXT NOT NULL,                  -- ours, theirs, base, edited
  value TEXT,                            -- JSON: what was taken, with the choice edited
  revision_before TEXT NOT NULL,         -- of the change request, when the conflict was open
  revision TEXT NOT NULL,                -- of the change request, that settled it
  settled_by TEXT NOT NULL,
  settled_at BIGINT NOT NULL,
  PRIMARY KEY (change_id, conflict_id)
);
