-- Which version of the program made what is derived from main of the spaces: a later one orders all of it anew.
CREATE TABLE derivation (
  version BIGINT NOT NULL
);
