-- Links of a space and backlinks of a page in display order.
DROP INDEX content_references_by_key;
CREATE INDEX content_references_by_key ON content_references (space_id, target_key, owner_id, place);
DROP INDEX content_references_by_target;
CREATE INDEX content_references_by_target ON content_references (target_space, target, space_id, owner_id, place);
