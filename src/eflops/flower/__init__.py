"""The Flower engine: the same rounds and methods on a real federation, and on Flower's simulation of one.

The server's loop runs inside a ServerApp and reaches the clients, which are ClientApps, over Flower's grid. Sampling
and noise are addressed and the order of summation is fixed, so a run has the bits of the batched engine.
"""

import os

# Flower and Ray report nothing home and look for no updates. Flower reads this when it is imported, which only the
# modules of this package do.
QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
os.environ.update(QUIET)
