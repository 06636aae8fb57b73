-- Pages on which a finding is ignored. It stays open on its other pages.
CREATE TABLE site_finding_ignored (
  finding_id TEXT NOT NULL REFERENCES site_findings(id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (finding_id, page_id)
);
