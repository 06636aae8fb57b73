-- Kind of bot; NULL for people.
ALTER TABLE site_events ADD COLUMN bot TEXT;
