"""Randomness by address: a generator is identified by a seed, a purpose and indices, not by the order of calls.

The noise of (seed, "gates", round 12, client 3) has the same numbers in a batch of thirty runs in one process and in a
single Flower client on another machine.
"""

import hashlib

import numpy as np


def address_key(seed: int, purpose: str, *address: int) -> int:
    """A 64-bit number that is specific to the seed, the purpose and the indices."""
    # A digest, because Python's own hash of text differs between processes.
    text = f"{seed}/{purpose}/{'/'.join(map(str, address))}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def numpy_generator(seed: int, purpose: str, *address: int) -> np.random.Generator:
    """The numpy generator at an address."""
    return np.random.Generator(np.random.PCG64(address_key(seed, purpose, *address)))
