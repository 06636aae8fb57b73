-- Index for deleting calls of models after their retention time.
CREATE INDEX model_calls_by_time ON model_calls (created_at);
