"""`python -m eflops` is the console command `eflops`."""

import sys

from eflops.cli import main

if __name__ == "__main__":
    sys.exit(main())
