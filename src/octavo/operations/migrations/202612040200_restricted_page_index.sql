DROP INDEX restricted_page_versions;
CREATE INDEX restricted_page_versions ON page_versions (branch_id, page_id) WHERE restricted = 1;
