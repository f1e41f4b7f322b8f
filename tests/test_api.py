"""The public face: what is exported, that it explains itself, and that versions agree."""

from __future__ import annotations

import importlib.metadata
import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import anonymatch as am
from anonymatch import _native

NAMES = [
    "Adaptive",
    "AddedEdge",
    "AnonymatchError",
    "ApproximateNote",
    "Attack",
    "AttackStep",
    "Audit",
    "BlockView",
    "Blocks",
    "Bounds",
    "Budget",
    "BudgetError",
    "Comparison",
    "Count",
    "Design",
    "EdgeCounts",
    "Equity",
    "Exposure",
    "Exposures",
    "Interval",
    "FileNote",
    "GATES",
    "Gate",
    "Graph",
    "Improvement",
    "InputError",
    "METHODS",
    "Metrics",
    "NoMatchingError",
    "Outcome",
    "Part",
    "Plan",
    "Posterior",
    "RandomDistribution",
    "Rival",
    "Checkpoint",
    "STRATEGIES",
    "Score",
    "Step",
    "StoppedError",
    "Ties",
    "Witness",
    "__version__",
    "adaptive",
    "allowed",
    "attack",
    "attack_component",
    "audit",
    "aztec",
    "band",
    "blocks",
    "bounds",
    "bregman",
    "check_gates",
    "circulant",
    "compare",
    "complete",
    "count",
    "crown",
    "design",
    "equity",
    "equity_increment",
    "exponential_mix_count",
    "exponential_mix_log",
    "exposure",
    "exposures",
    "ferrers",
    "forced",
    "gains",
    "grid",
    "hessenberg",
    "hexagon",
    "hypercube",
    "improve",
    "limit_ratio",
    "linked_pair",
    "max_bound",
    "metrics",
    "minors",
    "mixes",
    "paper",
    "partition",
    "path_counts",
    "polish",
    "pool_mix_bits",
    "posterior",
    "random_density",
    "random_distribution",
    "random_expectation",
    "random_expectation_exact",
    "random_regular",
    "read",
    "relay_graph",
    "relay_weights",
    "restricted_permutations",
    "restricted_permutations_log",
    "reveals_needed",
    "ring",
    "rivals",
    "sample",
    "sources",
    "steps_to_full_deanonymisation",
    "stirling_comparison",
    "threshold_mix_bits",
    "witness",
    "write",
]
EXPLAINED = [
    name for name in NAMES if inspect.isclass(getattr(am, name)) or callable(getattr(am, name))
]


def test_the_public_names_are_these() -> None:
    assert sorted(am.__all__) == NAMES


@pytest.mark.parametrize("name", EXPLAINED)
def test_every_public_name_explains_itself_with_an_example(name: str) -> None:
    """Errors are shown by what raises them."""
    thing = getattr(am, name)
    text = inspect.getdoc(thing)

    assert text
    assert ">>> " in text or (inspect.isclass(thing) and issubclass(thing, Exception))


@pytest.mark.parametrize(
    "name", [name for name in EXPLAINED if inspect.isfunction(getattr(am, name))]
)
def test_options_are_given_by_name(name: str) -> None:
    """After a graph at most one positional argument, so that calls read without documentation."""
    parameters = inspect.signature(getattr(am, name)).parameters
    kinds = [parameter.kind for parameter in parameters.values()]

    if "graph" in parameters:
        assert kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) <= 2


def test_errors_are_one_tree() -> None:
    for error in (am.InputError, am.NoMatchingError, am.BudgetError):
        assert issubclass(error, am.AnonymatchError)
    assert issubclass(am.InputError, ValueError)
    assert issubclass(am.NoMatchingError, ValueError)


def test_python_and_kernels_are_of_one_version() -> None:
    project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())

    assert am.__version__ == _native.version == project["project"]["version"]
    assert am.__version__ == importlib.metadata.version("anonymatch")


def test_importing_leaves_heavy_packages_alone() -> None:
    heavy = ("polars", "plotly", "pandas", "networkx", "scipy.stats", "scipy.sparse.csgraph")
    code = f"import sys, anonymatch; print([m for m in {heavy!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"
