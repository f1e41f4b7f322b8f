"""Logs under any law that knows densities, where no chain over a few numbers solves them."""

from __future__ import annotations

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument
from anonymatch.mixes.laws.law import DelayLaw, PassageWork
from anonymatch.mixes.solvers.any_delay import DelayLog, delay_figures
from anonymatch.mixes.solvers.links import LinkFigures

__all__ = ["wide_links"]


def wide_links(
    law: DelayLaw, arrivals: Floats, departures: Floats, work: PassageWork
) -> LinkFigures:
    """Figures of a log by a chain over explanations, with what a reader must know of it."""
    runs = law.candidates(
        arrivals,
        departures,
        users=np.arange(len(arrivals)),
        behaviours=np.arange(len(departures)),
        end=work.channel.end,
    )
    mean = law.mean_delay
    assert mean is not None
    log = DelayLog(
        arrivals=arrivals,
        departures=departures,
        first=np.minimum(runs.first, runs.end),
        last=runs.end,
        log_density=law.log_density,
        log_survival=law.log_survival,
        mean=mean,
    )
    try:
        return delay_figures(
            log,
            channel=work.channel,
            budget=work.budget,
            receivers=work.receivers,
            edge=work.edge,
            seed=work.seed,
            effort=work.effort,
            asked=work.asked,
        )
    except InputError as error:
        if error.where.file is not None:  # about the file of a run, and not about the log
            raise
        raise error.more(
            f", under the {law} and with what is told of losses and cover; give ",
            Argument("loss"),
            " or ",
            Argument("cover_rate"),
        ) from None
