"""How much CPU time work takes, which hardly depends on what else the machine does."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

# Cores that share a cache with busy ones are up to twice as slow, so limits are held loosely.
SLACK = 2.0


def used() -> float:
    """The CPU seconds that this process and the children it has waited for have used."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Fail where what is done meanwhile takes much more CPU time than that."""
    before = used()
    yield
    assert used() - before < SLACK * seconds
