"""Tables, figures, tests and the scorecard: from gathered records alone, never with torch."""
