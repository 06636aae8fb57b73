-- Indexes of the audit log by time for each filter, and stored numbers of events.

DROP INDEX audit_events_by_organization;
DROP INDEX audit_events_by_target;
DROP INDEX audit_events_by_actor;
DROP INDEX audit_events_by_action;
DROP INDEX audit_events_by_time;
CREATE INDEX audit_events_by_time ON audit_events (organization_id, created_at, id);
CREATE INDEX audit_events_by_target ON audit_events (organization_id, target_id, created_at, id);
CREATE INDEX audit_events_by_type ON audit_events (organization_id, target_type, created_at, id);
CREATE INDEX audit_events_by_action ON audit_events (organization_id, action, created_at, id);
CREATE INDEX audit_events_by_actor ON audit_events (organization_id, actor_id, created_at, id);
CREATE INDEX audit_events_by_actor_and_action ON audit_events (organization_id, actor_id, action, created_at, id);

CREATE TABLE audit_totals (
  organization_id TEXT NOT NULL,
  actor_id TEXT NOT NULL,                -- empty: the server itself
  action TEXT NOT NULL,
  target_type TEXT NOT NULL,
  part INTEGER NOT NULL,                 -- PostgreSQL splits a number into several rows, which are added up
  events BIGINT NOT NULL,
  PRIMARY KEY (organization_id, actor_id, action, target_type, part)
);
CREATE INDEX audit_totals_by_action ON audit_totals (organization_id, action);
INSERT INTO audit_totals (organization_id, actor_id, action, target_type, part, events)
  SELECT organization_id, COALESCE(actor_id, ''), action, target_type, 0, count(*) FROM audit_events
  GROUP BY organization_id, COALESCE(actor_id, ''), action, target_type;

-- only: sqlite
CREATE TRIGGER audit_events_counted AFTER INSERT ON audit_events
  BEGIN INSERT INTO audit_totals (organization_id, actor_id, action, target_type, part, events)
    VALUES (NEW.organization_id, COALESCE(NEW.actor_id, ''), NEW.action, NEW.target_type, 0, 1)
    ON CONFLICT (organization_id, actor_id, action, target_type, part) DO UPDATE SET events = events + 1; END;
-- end
-- only: postgresql
-- One of sixteen random parts, so that writers of an organization rarely wait for each other. A transaction with many
-- events uses additional parts, one per five hundred events, because changing a row reads all versions of it that the
-- same transaction wrote before.
CREATE FUNCTION count_audit_events() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    before bigint := COALESCE(NULLIF(current_setting('octavo.audit_events', true), '')::bigint, 0);
    written integer := CASE WHEN before < 1000 THEN floor(random() * 16) ELSE 14 + before / 500 END;
  BEGIN
    PERFORM set_config('octavo.audit_events', (before + (SELECT count(*) FROM added))::text, true);
    INSERT INTO audit_totals (organization_id, actor_id, action, target_type, part, events)
      SELECT organization_id, COALESCE(actor_id, ''), action, target_type, written, count(*)
        FROM added GROUP BY organization_id, COALESCE(actor_id, ''), action, target_type
      ON CONFLICT (organization_id, actor_id, action, target_type, part)
        DO UPDATE SET events = audit_totals.events + excluded.events;
    RETURN NULL;
  END $$;
CREATE TRIGGER audit_events_counted AFTER INSERT ON audit_events
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_audit_events();
-- end
