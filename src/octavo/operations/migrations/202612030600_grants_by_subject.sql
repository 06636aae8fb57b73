-- With the object in the index, SQLite counts a person's spaces there. Before, it preferred the primary key, and went
-- through all grants for spaces.
DROP INDEX grants_by_subject;
CREATE INDEX grants_by_subject ON grants (subject_type, subject_id, object_type, object_id);
