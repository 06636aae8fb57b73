-- Whether an import run includes all versions and languages of its source; once it has ended, their spaces and the site
-- that shows them.
ALTER TABLE import_runs ADD COLUMN variants TEXT;
