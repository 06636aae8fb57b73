-- The pages below a page in their order, read from any place on and counted without looking at the pages themselves.
CREATE INDEX page_versions_in_order ON page_versions (branch_id, parent_id, rank, page_id, to_seq, from_seq) WHERE deleted = 0;
