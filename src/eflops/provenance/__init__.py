"""Where a number comes from, and whether it comes out again."""
