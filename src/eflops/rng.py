"""Randomness by address: a generator is named by a seed, a purpose and indices, never drawn from in turn.

Whoever asks for the noise of (seed, "gates", round 12, client 3) gets the same numbers, be it a batch of thirty runs in
one process or a lone Flower client on another machine.
"""

import hashlib

import numpy as np


def address_key(seed: int, purpose: str, *address: int) -> int:
    """A 64-bit number that is specific to the seed, the purpose and the indices."""
    text = f"{seed}/{purpose}/{'/'.join(map(str, address))}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def numpy_generator(seed: int, purpose: str, *address: int) -> np.random.Generator:
    """The numpy generator at an address."""
    return np.random.Generator(np.random.PCG64(address_key(seed, purpose, *address)))
