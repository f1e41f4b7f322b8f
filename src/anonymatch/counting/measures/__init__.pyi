"""What a count means: degrees of anonymity, and figures for each user and message."""

from anonymatch.counting.measures.averages import (
    drawn_quantile as drawn_quantile,
    error_of_batches as error_of_batches,
)
from anonymatch.counting.measures.messages import (
    message_classes as message_classes,
)
from anonymatch.counting.measures.shrinking import (
    deviations as deviations,
    shrunk as shrunk,
)
from anonymatch.counting.measures.summary import (
    Metrics as Metrics,
    metrics as metrics,
)
from anonymatch.counting.measures.system import (
    log_rescaled as log_rescaled,
)
from anonymatch.counting.measures.user_posteriors import (
    user_figures as user_figures,
)
from anonymatch.counting.measures.users import (
    LOST as LOST,
    Range as Range,
    UserFigures as UserFigures,
    drawn_mean as drawn_mean,
    entropy_terms as entropy_terms,
    in_order as in_order,
    name_column as name_column,
)
