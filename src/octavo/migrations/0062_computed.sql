-- The few pages of a line that are made of something else: every reading of a tree asks for them.

CREATE INDEX page_versions_computed ON page_versions (line_id, kind) WHERE kind = 'computed';
