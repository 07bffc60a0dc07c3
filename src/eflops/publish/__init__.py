"""What of a results folder is tracked, and the results as a Workflow Run RO-Crate."""
