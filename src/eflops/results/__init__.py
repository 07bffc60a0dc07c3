"""A results folder: where every file lies, the packed store, the study and the checksums."""
