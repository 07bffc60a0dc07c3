"""A results folder: paths of all files, the packed store, the schema of records and the checksums."""
