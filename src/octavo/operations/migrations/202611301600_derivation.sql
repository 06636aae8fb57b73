-- Version of Octavo that derived data from main of the spaces; a later version rebuilds all of it.
CREATE TABLE derivation (
  version BIGINT NOT NULL
);
