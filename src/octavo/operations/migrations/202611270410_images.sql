-- Images in narrower widths, by the hash of the original file.
CREATE TABLE images (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  content TEXT NOT NULL,
  state TEXT NOT NULL,                   -- waiting, made
  width INTEGER,                         -- displayed width in pixels; NULL: no variants are possible
  height INTEGER,
  PRIMARY KEY (space_id, content)
);
CREATE INDEX images_waiting ON images (space_id, content) WHERE state = 'waiting';
CREATE INDEX images_by_content ON images (content);

CREATE TABLE image_variants (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  content TEXT NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  file TEXT NOT NULL,                    -- hash of the variant
  size BIGINT NOT NULL,                  -- size in bytes
  PRIMARY KEY (space_id, content, width)
);
CREATE INDEX image_variants_by_file ON image_variants (file);

-- Check the existing images of spaces once.
INSERT INTO jobs (id, kind, organization_id, state, payload, unique_key, run_at, created_at)
  SELECT 'images-' || id, 'noteImages', organization_id, 'ready', '{"space_id":"' || id || '"}', 'images-' || id, 0, 0
  FROM spaces WHERE TRUE
  ON CONFLICT (unique_key) DO NOTHING;
