-- Views of a finding's pages in the last 30 days, and the order in which to fix findings: views times days without a review.
ALTER TABLE site_findings ADD COLUMN views INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_findings ADD COLUMN priority BIGINT NOT NULL DEFAULT 0;
