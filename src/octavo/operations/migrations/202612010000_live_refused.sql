-- Keys of the blocks that the last save of a live page left as they were, as a JSON array.
ALTER TABLE page_live ADD COLUMN refused TEXT NOT NULL DEFAULT '[]';
