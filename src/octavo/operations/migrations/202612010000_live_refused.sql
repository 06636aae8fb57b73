-- JSON array of the keys of blocks that the last save of a live page left unchanged.
ALTER TABLE page_live ADD COLUMN refused TEXT NOT NULL DEFAULT '[]';
