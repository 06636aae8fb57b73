-- Whether an import run brings all versions and languages of its source, and once it did, which spaces they are and the
-- site that shows them.
ALTER TABLE import_runs ADD COLUMN variants TEXT;
