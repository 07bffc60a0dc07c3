"""Tables, figures, tests and the scorecard, made from gathered records only, without torch."""
