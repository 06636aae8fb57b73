-- Sites have permissions of their own: a role, 'inherit' (that of the organization), or NULL for no access by
-- default, next to grants with the object type 'site'.
ALTER TABLE sites ADD COLUMN default_level TEXT DEFAULT 'inherit';
