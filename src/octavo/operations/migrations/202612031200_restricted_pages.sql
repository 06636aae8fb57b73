ALTER TABLE page_versions ADD COLUMN restricted INTEGER NOT NULL DEFAULT 0;
CREATE INDEX restricted_page_versions ON page_versions (branch_id) WHERE restricted = 1;
