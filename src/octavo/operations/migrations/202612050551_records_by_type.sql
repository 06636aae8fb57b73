-- Lists of a site's records of one type, which can be few among many.
CREATE INDEX context_records_by_type ON context_records (site_id, type, id);
