"""Where results came from: explain, verify, audit, diff, publish, crate, predict and status."""
