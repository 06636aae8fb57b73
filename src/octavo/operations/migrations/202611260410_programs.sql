-- What kind of program a visitor was; null for people.
ALTER TABLE site_events ADD COLUMN bot TEXT;
