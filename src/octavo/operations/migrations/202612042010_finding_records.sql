-- Records of sources that are evidence for findings.
CREATE TABLE site_finding_records (
  finding_id TEXT NOT NULL REFERENCES site_findings(id) ON DELETE CASCADE,
  record_id TEXT NOT NULL REFERENCES context_records(id) ON DELETE CASCADE,
  PRIMARY KEY (finding_id, record_id)
);
CREATE INDEX site_finding_records_by_record ON site_finding_records (record_id);
