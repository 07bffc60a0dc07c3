"""The leukaemia experiments that tables put side by side, and what each varies."""

OVER = {
    "golub_runs": "run seeds",
    "golub_splits": "splits",
    "golub_literal": "run seeds, cut from the first round",
}
# The clients' samples pooled and fitted without a federation, once a split.
REFERENCED = ("golub_runs", "golub_splits")
