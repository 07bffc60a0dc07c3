"""What moved between two results folders or two commits."""
