-- Resolved conflicts of change requests, with the data to reopen them, until the next update with main or the merge.
CREATE TABLE change_settlements (
  change_id TEXT NOT NULL REFERENCES change_requests (id) ON DELETE CASCADE,
  conflict_id TEXT NOT NULL,
  position INTEGER NOT NULL,             -- position among all conflicts of the change request, open and resolved
  conflicts TEXT NOT NULL,               -- JSON: the conflict when it was open, followed by those resolved with it
  choice TEXT NOT NULL,                  -- ours, theirs, base, edited
  value TEXT,                            -- JSON: the chosen value, with the choice edited
  revision_before TEXT NOT NULL,         -- revision of the change request in which the conflict was open
  revision TEXT NOT NULL,                -- revision of the change request that resolved it
  settled_by TEXT NOT NULL,
  settled_at BIGINT NOT NULL,
  PRIMARY KEY (change_id, conflict_id)
);
