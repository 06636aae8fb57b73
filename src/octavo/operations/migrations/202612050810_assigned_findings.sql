-- Why a finding was dismissed on all of its pages, and the person or the team that it is assigned to.
ALTER TABLE site_findings ADD COLUMN reason TEXT;
ALTER TABLE site_findings ADD COLUMN assigned_user TEXT;
ALTER TABLE site_findings ADD COLUMN assigned_team TEXT REFERENCES teams(id) ON DELETE SET NULL;
CREATE INDEX site_findings_by_team ON site_findings (assigned_team) WHERE assigned_team IS NOT NULL;
