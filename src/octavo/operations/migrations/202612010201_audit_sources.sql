-- Origin of an audit event, and the transaction that recorded it, which is the same for all events of one action.
ALTER TABLE audit_events ADD COLUMN source TEXT;
ALTER TABLE audit_events ADD COLUMN correlation TEXT;
