-- Pages that a finding quotes or names in addition to the pages that it concerns. Only people who can see all of them
-- see the finding.
CREATE TABLE site_finding_sources (
  finding_id TEXT NOT NULL REFERENCES site_findings(id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  PRIMARY KEY (finding_id, page_id)
);
