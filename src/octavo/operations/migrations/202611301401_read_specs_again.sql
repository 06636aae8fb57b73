-- Process specifications again, because numbers in YAML were not read exactly.
UPDATE openapi_specs SET etag = NULL, last_modified = NULL, check_at = 0
  WHERE source_url IS NOT NULL AND version_id IS NOT NULL AND check_at IS NOT NULL;
UPDATE openapi_specs SET state = 'pending', check_at = 0, pending = (
    SELECT f.body FROM openapi_files f WHERE f.version_id = openapi_specs.version_id AND f.position = 0
  )
  WHERE source_url IS NULL AND pending IS NULL AND state = 'complete'
    AND (SELECT count(*) FROM openapi_files f WHERE f.version_id = openapi_specs.version_id) = 1;
