-- Names of the parts of a site in docs.yaml, and the directories of its spaces in the repository.

ALTER TABLE sites ADD COLUMN docs_source TEXT;
CREATE INDEX sites_by_docs_source ON sites (organization_id, docs_source);

ALTER TABLE site_sections ADD COLUMN docs_key TEXT;
ALTER TABLE site_section_groups ADD COLUMN docs_key TEXT;
ALTER TABLE site_spaces ADD COLUMN docs_key TEXT;
ALTER TABLE site_spaces ADD COLUMN docs_directory TEXT;
