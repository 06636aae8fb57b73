-- Cause of a job, an event, or its delivery, if traces are enabled: a W3C traceparent.
ALTER TABLE jobs ADD COLUMN trace TEXT;
ALTER TABLE events ADD COLUMN trace TEXT;
ALTER TABLE deliveries ADD COLUMN trace TEXT;
