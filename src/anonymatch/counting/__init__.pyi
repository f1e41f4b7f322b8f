"""How many perfect matchings: reduce a graph to blocks, plan, run, combine."""

from anonymatch.counting.api import (
    count as count,
    known_posterior as known_posterior,
    plan_posterior as plan_posterior,
    posterior as posterior,
)
from anonymatch.counting.blocks.block_classes import (
    concatenated_ranges as concatenated_ranges,
    members_of_classes as members_of_classes,
)
from anonymatch.counting.bounding.bregman import (
    Bounds as Bounds,
    bounds as bounds,
)
from anonymatch.counting.class_solutions import (
    ClassSolution as ClassSolution,
    SolutionCost as SolutionCost,
    solve_classes as solve_classes,
)
from anonymatch.counting.exact.rook import (
    canonical as canonical,
)
from anonymatch.counting.integers import (
    multiply as multiply,
    product as product,
)
from anonymatch.counting.minor_counts import (
    gains as gains,
    minors as minors,
    minors_at_once_seconds as minors_at_once_seconds,
)
from anonymatch.counting.planning.choose import (
    METHODS as METHODS,
    exact_words as exact_words,
    method_named as method_named,
)
from anonymatch.counting.reference import (
    first_minors as first_minors,
    matchings as matchings,
    permanent as permanent,
)
from anonymatch.counting.results import (
    ApproximateNote as ApproximateNote,
    Count as Count,
    EdgeCounts as EdgeCounts,
    Plan as Plan,
    Posterior as Posterior,
    Step as Step,
    log_of as log_of,
    power_product as power_product,
)
from anonymatch.counting.sampling import (
    sample as sample,
)
from anonymatch.counting.bounding.degrees import (
    bregman as bregman,
)
