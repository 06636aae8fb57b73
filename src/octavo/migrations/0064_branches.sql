-- Main and each change request are branches of a space, and are called so.

ALTER TABLE lines RENAME TO branches;
ALTER TABLE branches RENAME COLUMN base_line TO base_branch;
ALTER TABLE spaces RENAME COLUMN main_line TO main_branch;
ALTER TABLE revisions RENAME COLUMN line_id TO branch_id;
ALTER TABLE page_versions RENAME COLUMN line_id TO branch_id;
ALTER TABLE item_versions RENAME COLUMN line_id TO branch_id;
ALTER TABLE change_requests RENAME COLUMN line_id TO branch_id;
DROP INDEX lines_by_space;
CREATE INDEX branches_by_space ON branches (space_id);
DROP INDEX change_requests_by_line;
CREATE INDEX change_requests_by_branch ON change_requests (branch_id);
