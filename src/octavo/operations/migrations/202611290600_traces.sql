-- What caused a job, an event or its delivery, where there are traces: a W3C traceparent.
ALTER TABLE jobs ADD COLUMN trace TEXT;
ALTER TABLE events ADD COLUMN trace TEXT;
ALTER TABLE deliveries ADD COLUMN trace TEXT;
