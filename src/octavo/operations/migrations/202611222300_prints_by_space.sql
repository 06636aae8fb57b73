-- Index for finding the prints of a space.

CREATE INDEX prints_by_space ON prints (space_id);
