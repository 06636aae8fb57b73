-- Last edit of the change request by each person: authors of edits since the last approval can't review.
ALTER TABLE change_contributors ADD COLUMN edits INTEGER NOT NULL DEFAULT 0;
UPDATE change_contributors SET edits = (SELECT c.edits FROM change_requests c WHERE c.id = change_id)
  WHERE action = 'edit';
