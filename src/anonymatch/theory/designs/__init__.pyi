"""What to build: the best groups for a number of users and edges, and what random graphs give."""

from anonymatch.theory.designs import (
    formulas as formulas,
)
from anonymatch.theory.designs.designer import (
    Design as Design,
    design as design,
)
from anonymatch.theory.designs.formulas import (
    Equity as Equity,
    attack_component as attack_component,
    avoiding_share_log as avoiding_share_log,
    equity as equity,
    equity_increment as equity_increment,
    limit_ratio as limit_ratio,
    linked_pair as linked_pair,
    max_bound as max_bound,
    restricted_permutations as restricted_permutations,
    restricted_permutations_log as restricted_permutations_log,
    steps_to_full_deanonymisation as steps_to_full_deanonymisation,
)
from anonymatch.theory.designs.partition import (
    layered as layered,
    parameters as parameters,
)
from anonymatch.theory.designs.parts import (
    Near as Near,
    Part as Part,
    graph_of as graph_of,
)
from anonymatch.theory.designs.random_graphs import (
    RandomDistribution as RandomDistribution,
    Rival as Rival,
    random_distribution as random_distribution,
    random_expectation as random_expectation,
    random_expectation_exact as random_expectation_exact,
    rivals as rivals,
    stirling_comparison as stirling_comparison,
)
from anonymatch.theory.designs.small import (
    polish as polish,
)
