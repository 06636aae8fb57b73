-- Index for reading the subpages of a page in order from any position, and for counting them without reading the pages.
CREATE INDEX page_versions_in_order ON page_versions (branch_id, parent_id, rank, page_id, to_seq, from_seq) WHERE deleted = 0;
