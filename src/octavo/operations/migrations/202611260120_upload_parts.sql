-- Received parts of interrupted uploads, which continue after them.
ALTER TABLE uploads ADD COLUMN received BIGINT NOT NULL DEFAULT 0;
CREATE TABLE upload_parts (
  upload_id TEXT NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
  start BIGINT NOT NULL,                 -- offset of the part in the file, in bytes
  hash TEXT NOT NULL,
  PRIMARY KEY (upload_id, start)
);
CREATE INDEX upload_parts_by_hash ON upload_parts (hash);
