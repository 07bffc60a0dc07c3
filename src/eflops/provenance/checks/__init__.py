"""What an audit checks, one file a subject; each check yields findings and stops at none."""
