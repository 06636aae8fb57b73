-- Up to which edit of the change request somebody wrote in it: who wrote since the last approval cannot review.
ALTER TABLE change_contributors ADD COLUMN edits INTEGER NOT NULL DEFAULT 0;
UPDATE change_contributors SET edits = (SELECT c.edits FROM change_requests c WHERE c.id = change_id)
  WHERE action = 'edit';
