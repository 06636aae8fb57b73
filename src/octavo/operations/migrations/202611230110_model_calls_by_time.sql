-- Calls of models are kept for a time and found by it.
CREATE INDEX model_calls_by_time ON model_calls (created_at);
