-- Prints of a space are found without going through all there are.

CREATE INDEX prints_by_space ON prints (space_id);
