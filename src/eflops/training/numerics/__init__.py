"""Gates, random numbers, compiled passes and the wire format."""
