-- When an automatic fix was undone, so that it isn't undone twice.
ALTER TABLE site_finding_changes ADD COLUMN undone_at BIGINT;
