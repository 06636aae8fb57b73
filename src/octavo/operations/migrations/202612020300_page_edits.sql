-- The change requests that edit a page are found by the page.
CREATE INDEX page_versions_by_page ON page_versions (page_id, branch_id);
