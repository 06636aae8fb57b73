-- Add indexes for lists and counts that scanned whole tables.

CREATE INDEX members_by_joining ON members (organization_id, joined_at, user_id);
CREATE INDEX audit_events_by_actor ON audit_events (organization_id, actor_id, id);
CREATE INDEX audit_events_by_action ON audit_events (organization_id, action, id);
CREATE INDEX audit_events_by_time ON audit_events (organization_id, created_at);
CREATE INDEX content_references_by_neighbour ON content_references (space_id, target_space);
CREATE INDEX content_references_by_kind ON content_references (space_id, kind, target);
CREATE INDEX content_references_from ON content_references (target_space, space_id);
