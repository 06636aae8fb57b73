-- The weights of a font, each with its file.
CREATE TABLE font_faces (
  font_id TEXT NOT NULL REFERENCES fonts(id) ON DELETE CASCADE,
  weight INTEGER NOT NULL,
  hash TEXT NOT NULL,
  format TEXT NOT NULL,                  -- woff2, woff
  PRIMARY KEY (font_id, weight)
);
CREATE INDEX font_faces_by_hash ON font_faces (hash);
ALTER TABLE fonts DROP COLUMN faces;
