from eflops.api import Results as Results
from eflops.api import load as load
