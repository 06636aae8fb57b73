-- Words of the index are folded and stemmed in another way: every space is indexed anew by a job.
INSERT INTO jobs (id, kind, organization_id, state, payload, unique_key, run_at, created_at)
  SELECT 'index-' || id, 'indexSpace', organization_id, 'ready', '{"space_id":"' || id || '"}', 'index-' || id, 0, 0
  FROM spaces WHERE 1 = 1
  ON CONFLICT (unique_key) DO NOTHING;
