-- Where an audit event came from, and the transaction that recorded it: events of one action have the same.
ALTER TABLE audit_events ADD COLUMN source TEXT;
ALTER TABLE audit_events ADD COLUMN correlation TEXT;
