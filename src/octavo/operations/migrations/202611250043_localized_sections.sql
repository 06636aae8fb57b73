-- Titles and descriptions of sections, groups, and variants in other languages, as in docs.yaml: JSON {"title": {"de":
-- "..."}, "description": {"de": "..."}}.

ALTER TABLE site_sections ADD COLUMN localized TEXT;
ALTER TABLE site_section_groups ADD COLUMN localized TEXT;
ALTER TABLE site_spaces ADD COLUMN localized TEXT;
