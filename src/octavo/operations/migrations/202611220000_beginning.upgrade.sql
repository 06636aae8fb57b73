-- Upgrade a database with the migrations before the first release to 202611220000_beginning.
-- replaces: 1 10 11 20 30 35 36 40 50 52 60 62
-- first upgrade with: Octavo 0.1.0 of 21 November 2026 (revision 731b041)

-- Rename columns, because main and each change request are branches of a space.
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
-- Remove a table that was never read.
DROP TABLE blobs;

-- only: postgresql
-- Rename constraints, which kept their original names.
ALTER TABLE branches RENAME CONSTRAINT lines_pkey TO branches_pkey;
ALTER TABLE branches RENAME CONSTRAINT lines_space_id_fkey TO branches_space_id_fkey;
ALTER TABLE revisions RENAME CONSTRAINT revisions_line_id_fkey TO revisions_branch_id_fkey;
ALTER TABLE revisions RENAME CONSTRAINT revisions_line_id_sequence_key TO revisions_branch_id_sequence_key;
ALTER TABLE page_versions RENAME CONSTRAINT page_versions_line_id_fkey TO page_versions_branch_id_fkey;
ALTER TABLE item_versions RENAME CONSTRAINT item_versions_line_id_fkey TO item_versions_branch_id_fkey;
ALTER TABLE change_requests RENAME CONSTRAINT change_requests_line_id_fkey TO change_requests_branch_id_fkey;
-- end
