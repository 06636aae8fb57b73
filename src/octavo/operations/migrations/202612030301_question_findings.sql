-- Findings whose evidence is a question of visitors.
ALTER TABLE site_findings ADD COLUMN question_id TEXT;
CREATE INDEX site_findings_by_question ON site_findings (question_id);
