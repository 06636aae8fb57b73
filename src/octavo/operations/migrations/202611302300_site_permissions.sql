-- Sites have their own permissions: by default a role, 'inherit' (that of the organization), or NULL for no access, and
-- grants with the object type 'site'.
ALTER TABLE sites ADD COLUMN default_level TEXT DEFAULT 'inherit';
