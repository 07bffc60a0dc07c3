"""results/explorer.html: one page, without a network, on which every number opens to its runs."""
