"""The public face: what is exported, that it explains itself, and that versions agree."""

from __future__ import annotations

import importlib.metadata
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import anonymatch as am
from anonymatch import _native

NAMES = [
    "AnonymatchError",
    "Attack",
    "Audit",
    "Bounds",
    "Budget",
    "BudgetError",
    "Checkpoint",
    "Cluster",
    "Comparison",
    "Count",
    "Design",
    "Graph",
    "GraphAudit",
    "InputError",
    "Interval",
    "LogTotals",
    "Metrics",
    "MixAudit",
    "Disclosure",
    "NetworkAudit",
    "NetworkPlan",
    "NoMatchingError",
    "Posterior",
    "RingAudit",
    "StoppedError",
    "TableAudit",
    "__version__",
    "adaptive",
    "allowed",
    "attack",
    "audit",
    "audit_rings",
    "audit_table",
    "blocks",
    "bounds",
    "check_gates",
    "compare",
    "count",
    "design",
    "exposure",
    "exposures",
    "families",
    "forced",
    "formulas",
    "gains",
    "improve",
    "max_bound",
    "metrics",
    "minors",
    "disclosure",
    "mixes",
    "paper",
    "plan",
    "posterior",
    "random_expectation",
    "read",
    "rounds",
    "sample",
    "rings",
    "sources",
    "tables",
    "theory",
    "totals",
    "witness",
    "write",
]

MORE = [
    "Adaptive",
    "AddedEdge",
    "ApproximateNote",
    "AttackStep",
    "BlockView",
    "Blocks",
    "EdgeCounts",
    "Equity",
    "Exposure",
    "Exposures",
    "FileNote",
    "GATES",
    "Gate",
    "Improvement",
    "METHODS",
    "Outcome",
    "Part",
    "Plan",
    "RandomDistribution",
    "Rival",
    "STRATEGIES",
    "Score",
    "Step",
    "Ties",
    "Witness",
    "attack_component",
    "aztec",
    "band",
    "bregman",
    "circulant",
    "complete",
    "crown",
    "equity",
    "equity_increment",
    "exponential_mix_count",
    "exponential_mix_log",
    "ferrers",
    "grid",
    "hessenberg",
    "hexagon",
    "hypercube",
    "limit_ratio",
    "linked_pair",
    "partition",
    "path_counts",
    "polish",
    "pool_mix_bits",
    "random_density",
    "random_distribution",
    "random_expectation_exact",
    "random_regular",
    "relay_graph",
    "relay_weights",
    "restricted_permutations",
    "restricted_permutations_log",
    "reveals_needed",
    "ring",
    "rivals",
    "steps_to_full_deanonymisation",
    "stirling_comparison",
    "threshold_mix_bits",
]
"""Names that also work: they belong to am.families, am.formulas and other rooms."""
EXPLAINED = [
    name
    for name in [*NAMES, *MORE]
    if inspect.isclass(getattr(am, name)) or callable(getattr(am, name))
]


def test_the_public_names_are_these() -> None:
    assert sorted(am.__all__) == sorted(NAMES) == sorted(dir(am))
    assert not set(MORE) & set(NAMES)


def test_types_are_given_for_every_name() -> None:
    """The stub and the table that loads names on first use say the same."""
    stub = Path(am.__file__).with_suffix(".pyi").read_text()
    typed = set(re.findall(r"(\w+) as \1\b", stub)) | {"__version__"}

    assert typed == {*NAMES, *MORE}


def test_a_wrong_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'cuont'"):
        _ = am.cuont  # type: ignore[attr-defined]


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
    heavy = ("polars", "networkx", "scipy.special", "scipy.sparse", "click", "jinja2")
    code = f"import sys; {{}}; print([m for m in {heavy!r} if m in sys.modules])"
    for use in ("import anonymatch", "import anonymatch; anonymatch.count"):
        done = subprocess.run(
            [sys.executable, "-c", code.format(use)], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"


def test_importing_loads_nothing_of_its_own() -> None:
    own = "[m for m in sys.modules if 'anonymatch.' in m or m == 'numpy']"
    code = f"import sys, anonymatch; print({own})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
