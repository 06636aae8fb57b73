-- Findings: faults of the pages of a site, and the scans that found them.

-- Results of the checks of a page, so that a scan only reads changed pages. fingerprint: hash of the text and of the
-- rules it was checked with; result: JSON.
CREATE TABLE page_checks (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  result TEXT NOT NULL,
  PRIMARY KEY (space_id, page_id)
);

CREATE TABLE site_scans (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  status TEXT NOT NULL,                  -- pending, running, done, failed
  cause TEXT NOT NULL,                   -- manual, schedule, change
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  finished_at BIGINT,
  failure TEXT,
  low INTEGER NOT NULL DEFAULT 0,        -- number of findings that it created, by severity
  medium INTEGER NOT NULL DEFAULT 0,
  high INTEGER NOT NULL DEFAULT 0,
  health TEXT                            -- JSON: scores by area
);
CREATE INDEX site_scans_by_site ON site_scans (site_id, id);

-- key: identifies the same fault in the next scan. fixing: JSON, the fix if it needs no decision. space_id: NULL for
-- findings of the site as a whole.
CREATE TABLE site_findings (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  space_id TEXT REFERENCES spaces(id) ON DELETE CASCADE,
  scan_id TEXT NOT NULL,
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  type TEXT NOT NULL,
  title TEXT NOT NULL,
  severity TEXT NOT NULL,                -- low, medium, high
  severity_rank INTEGER NOT NULL,
  status TEXT NOT NULL,                  -- candidate, open, done, canceled
  evidence TEXT NOT NULL,                -- JSON: quotations with their pages
  fixing TEXT,
  pages INTEGER NOT NULL DEFAULT 0,
  changes INTEGER NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (site_id, key)
);
CREATE INDEX site_findings_by_site ON site_findings (site_id, status, updated_at, id);
CREATE INDEX site_findings_by_space ON site_findings (space_id, status);

CREATE TABLE site_finding_pages (
  finding_id TEXT NOT NULL REFERENCES site_findings(id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  PRIMARY KEY (finding_id, page_id)
);
CREATE INDEX site_finding_pages_by_page ON site_finding_pages (page_id);

CREATE TABLE site_finding_changes (
  finding_id TEXT NOT NULL REFERENCES site_findings(id) ON DELETE CASCADE,
  change_id TEXT NOT NULL REFERENCES change_requests(id) ON DELETE CASCADE,
  PRIMARY KEY (finding_id, change_id)
);
CREATE INDEX site_finding_changes_by_change ON site_finding_changes (change_id);
