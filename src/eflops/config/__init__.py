"""The config file as typed, validated objects, and the jobs that follow from it."""
