-- Positions of the nodes of commented pages in a text, so that a later version, which may assign different keys, can
-- restore the keys to which comments refer.
CREATE TABLE node_whereabouts (
  owner_id TEXT NOT NULL,                -- id of the page
  body TEXT NOT NULL,
  places TEXT NOT NULL,                  -- JSON: map from keys to positions
  PRIMARY KEY (owner_id, body)
);

INSERT INTO jobs (id, kind, organization_id, state, payload, unique_key, run_at, created_at)
  SELECT 'nodes-' || id, 'noteCommentedNodes', organization_id, 'ready', '{"space_id":"' || id || '"}', 'nodes-' || id, 0, 0
  FROM spaces WHERE id IN (SELECT space_id FROM comments WHERE node_id IS NOT NULL)
  ON CONFLICT (unique_key) DO NOTHING;
