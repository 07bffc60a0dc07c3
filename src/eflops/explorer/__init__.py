"""results/explorer.html: one offline page on which every number leads to its runs."""
