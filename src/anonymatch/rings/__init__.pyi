"""Ring signatures: files of rings and their ages."""

from anonymatch.rings.audit import (
    RingAudit as RingAudit,
    audit_rings as audit_rings,
)
from anonymatch.rings.observation import (
    RingObservation as RingObservation,
)
from anonymatch.rings.options import (
    RingOptions as RingOptions,
)
from anonymatch.rings.ring_ages import (
    AGE_LAWS as AGE_LAWS,
)
from anonymatch.rings.ring_files import (
    has_ring_columns as has_ring_columns,
    has_ring_names as has_ring_names,
    read_rings as read_rings,
)
from anonymatch.rings.ring_set import (
    RingSet as RingSet,
)
from anonymatch.rings.figures import (
    RingFigures as RingFigures,
    ring_figures as ring_figures,
    ring_notes as ring_notes,
)
