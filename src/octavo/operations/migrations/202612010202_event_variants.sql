-- Index that agents requested, and whether people opened the Markdown of a page from its menu.
ALTER TABLE site_events ADD COLUMN llms_variant TEXT;
ALTER TABLE site_events ADD COLUMN markdown_source TEXT;
