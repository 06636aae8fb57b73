-- The kind of the job that analyzes conversations is spelled like everything else.
UPDATE jobs SET kind = 'analyzeConversations',
  unique_key = replace(unique_key, 'analyseConversations:', 'analyzeConversations:')
  WHERE kind = 'analyseConversations';
