"""Whatever is done to config.yaml, the check either refuses it in sentences or it can be planned."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from eflops.config.cell import CellSpec
from eflops.config.load import check, read_yaml
from eflops.config.messages import ConfigError
from eflops.config.plan import all_plans, cell_specs
from eflops.results.labels import ratio_value

ROOT = Path(__file__).parents[2]
BASE = read_yaml(ROOT / "config.yaml")
for search in BASE["searches"].values():
    search["trials"] = 3  # a plan of all trials takes a second

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(min_value=-(2**70), max_value=2**70),
    st.sampled_from([0, 1, -1, 2**31, 2**63, 10**9]),
    st.floats(),
    st.sampled_from(["", "1e-3", "2", "null", "true", "{x}", "a b", "'", "..", "/", "src", "\t", "nan", "epoch"]),
    st.text(max_size=8),
)
VALUES = st.one_of(
    SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.text(max_size=5), SCALARS, max_size=2)
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a nested value."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield from places(part, (*path, key))


PLACES = sorted(places(BASE), key=str)


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """config.yaml with one to three places replaced, deleted, doubled or joined by a new key."""
    raw = copy.deepcopy(BASE)
    for _ in range(draw(st.integers(1, 3))):
        *parents, last = draw(st.sampled_from(PLACES))
        holder: Any = raw
        try:
            for key in parents:
                holder = holder[key]
            match draw(st.sampled_from(["replace", "delete", "double", "join"])):
                case "replace":
                    holder[last] = draw(VALUES)
                case "delete":
                    del holder[last]
                case "double" if isinstance(holder, list):
                    holder.append(holder[last])
                case "join" if isinstance(holder, dict):
                    holder[draw(st.text(max_size=6))] = draw(VALUES)
        except (KeyError, IndexError, TypeError):
            continue
    return raw


def plan_everything(raw: dict[str, Any]) -> int:
    """Plan every record of a config, as the workflow does; how many there are."""
    config, count = check(raw), 0
    for plan in all_plans(config):
        paths = plan.record_paths
        assert len(set(paths)) == len(paths)
        for spec in cell_specs(config, plan.name):
            ratio_value(spec.ratio)
            assert CellSpec.model_validate_json(spec.text()) == spec
        count += len(paths)
    return count


@given(mutated())
@example({})
@example({"\n": None})
@example({"datasets": [], "methods": None, "experiments": "x"})
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_mutated_config_is_refused_in_sentences_or_planned(raw: dict[str, Any]) -> None:
    try:
        count, mistakes = plan_everything(raw), []
    except ConfigError as error:
        count, mistakes = 0, error.mistakes
    assert count > 0 or mistakes
    for mistake in mistakes:
        assert ": " in mistake, mistake
        assert mistake.endswith("."), mistake
        assert "\n" not in mistake, mistake
        assert len(mistake) < 600, mistake
