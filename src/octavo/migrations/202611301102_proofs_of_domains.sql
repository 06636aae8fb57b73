-- An administrator's mailbox in a domain no longer proves that the domain is the organization's.
DELETE FROM proved_domains WHERE proof = 'address';
