-- Number of pages that a check changed in the change request that it created; NULL for an earlier change request.
ALTER TABLE styleguide_run_changes ADD COLUMN changed_pages INTEGER;
-- End of the last completed scan of a site.
ALTER TABLE sites ADD COLUMN last_scan_at BIGINT;
UPDATE sites SET last_scan_at = (
  SELECT max(s.finished_at) FROM site_scans s WHERE s.site_id = sites.id AND s.status = 'done');
