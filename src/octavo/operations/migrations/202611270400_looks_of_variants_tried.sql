-- Unsaved overrides of a site space that a person is previewing, in addition to the customization of its site.
ALTER TABLE site_look_drafts ADD COLUMN site_space_id TEXT REFERENCES site_spaces (id) ON DELETE CASCADE;
ALTER TABLE site_look_drafts ADD COLUMN override TEXT;
CREATE INDEX site_look_drafts_by_site_space ON site_look_drafts (site_space_id);
