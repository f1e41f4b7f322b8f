"""What the count means: degrees of anonymity, figures for each user, messages, and mixes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymatch.base.faces import on_first_use

if TYPE_CHECKING:
    from anonymatch.measures import mixes
    from anonymatch.measures.flush_totals import FlushTotals
    from anonymatch.measures.interval import Interval
    from anonymatch.measures.messages import message_classes
    from anonymatch.measures.mixes import (
        Price,
        batch_bits_per_message,
        exponential_bits,
        exponential_bits_per_message,
        exponential_mix_count,
        exponential_mix_inside,
        exponential_mix_log,
        pool_bits,
        pool_mix_bits,
        threshold_bits,
        threshold_mix_bits,
    )
    from anonymatch.measures.network_chains import (
        LinkLoops,
        MixEvents,
        MixRates,
        NetworkSteps,
        mix_events,
        network_evidence,
        network_steps,
        steps_cost,
    )
    from anonymatch.measures.network_histories import NetworkJoint, Weigh, network_joint
    from anonymatch.measures.networks import (
        ForwardPlan,
        LinkedNetwork,
        NetworkMarginals,
        NetworkSample,
        forward_marginals,
        marginals_of,
        network_sample,
    )
    from anonymatch.measures.passages.any_delay import DelayLog, delay_figures
    from anonymatch.measures.passages.exponential import (
        passage_asked,
        passage_count,
        passage_figures,
        stay_of,
    )
    from anonymatch.measures.passages.flush_chain import Dummies, flush_figures
    from anonymatch.measures.passages.flush_rule import FlushRule, flush_numbers, rounding
    from anonymatch.measures.passages.hidden_chain import HiddenPairs, hidden_figures, hidden_pairs
    from anonymatch.measures.passages.hidden_rates import FreeRate, Rates, fit_rates
    from anonymatch.measures.passages.links import (
        Channel,
        LinkFigures,
        ReceiverFigures,
        entropy_slack,
        two_outcomes,
    )
    from anonymatch.measures.passages.phase_chain import phase_figures
    from anonymatch.measures.passages.phase_log import check_hops
    from anonymatch.measures.summary import Metrics, metrics
    from anonymatch.measures.system import log_rescaled
    from anonymatch.measures.two_layers import two_layer_bits
    from anonymatch.measures.users import (
        LOST,
        Range,
        UserFigures,
        drawn_mean,
        entropy_terms,
        in_order,
        name_column,
        user_figures,
    )
    from anonymatch.measures.wide_band import BandEstimate, WideBand, estimate_band
    from anonymatch.measures.wide_link_band import LinkBand
    from anonymatch.measures.wide_link_estimate import LINKS_CONFIDENCE, LinksEstimate
    from anonymatch.measures.wide_links import estimate_links

__all__ = [
    "LINKS_CONFIDENCE",
    "LOST",
    "BandEstimate",
    "Channel",
    "DelayLog",
    "Dummies",
    "FlushRule",
    "FlushTotals",
    "ForwardPlan",
    "FreeRate",
    "HiddenPairs",
    "Interval",
    "LinkBand",
    "LinkFigures",
    "LinkLoops",
    "LinkedNetwork",
    "LinksEstimate",
    "Metrics",
    "MixEvents",
    "MixRates",
    "NetworkJoint",
    "NetworkMarginals",
    "NetworkSample",
    "NetworkSteps",
    "Price",
    "Range",
    "Rates",
    "ReceiverFigures",
    "UserFigures",
    "Weigh",
    "WideBand",
    "batch_bits_per_message",
    "check_hops",
    "delay_figures",
    "drawn_mean",
    "entropy_slack",
    "entropy_terms",
    "estimate_band",
    "estimate_links",
    "exponential_bits",
    "exponential_bits_per_message",
    "exponential_mix_count",
    "exponential_mix_inside",
    "exponential_mix_log",
    "fit_rates",
    "flush_figures",
    "flush_numbers",
    "forward_marginals",
    "hidden_figures",
    "hidden_pairs",
    "in_order",
    "log_rescaled",
    "marginals_of",
    "message_classes",
    "metrics",
    "mix_events",
    "mixes",
    "name_column",
    "network_evidence",
    "network_joint",
    "network_sample",
    "network_steps",
    "passage_asked",
    "passage_count",
    "passage_figures",
    "phase_figures",
    "pool_bits",
    "pool_mix_bits",
    "rounding",
    "stay_of",
    "steps_cost",
    "threshold_bits",
    "threshold_mix_bits",
    "two_layer_bits",
    "two_outcomes",
    "user_figures",
]

__getattr__ = on_first_use(
    __name__,
    {
        "flush_totals": "FlushTotals",
        "interval": "Interval",
        "messages": "message_classes",
        "mixes": (
            "Price batch_bits_per_message exponential_bits exponential_bits_per_message "
            "exponential_mix_count exponential_mix_inside exponential_mix_log "
            "pool_bits pool_mix_bits threshold_bits threshold_mix_bits"
        ),
        "passages.any_delay": "DelayLog delay_figures",
        "network_chains": (
            "LinkLoops MixEvents MixRates NetworkSteps mix_events network_evidence network_steps "
            "steps_cost"
        ),
        "network_histories": "NetworkJoint Weigh network_joint",
        "networks": (
            "ForwardPlan LinkedNetwork NetworkMarginals NetworkSample forward_marginals "
            "marginals_of network_sample"
        ),
        "passages.exponential": "passage_asked passage_count passage_figures stay_of",
        "passages.flush_chain": "Dummies flush_figures",
        "passages.flush_rule": "FlushRule flush_numbers rounding",
        "passages.hidden_chain": "HiddenPairs hidden_figures hidden_pairs",
        "passages.hidden_rates": "FreeRate Rates fit_rates",
        "passages.links": "Channel LinkFigures ReceiverFigures entropy_slack two_outcomes",
        "passages.phase_chain": "phase_figures",
        "passages.phase_log": "check_hops",
        "summary": "Metrics metrics",
        "system": "log_rescaled",
        "two_layers": "two_layer_bits",
        "users": (
            "LOST Range UserFigures drawn_mean entropy_terms in_order name_column user_figures"
        ),
        "wide_band": "BandEstimate WideBand estimate_band",
        "wide_link_band": "LinkBand",
        "wide_link_estimate": "LINKS_CONFIDENCE LinksEstimate",
        "wide_links": "estimate_links",
    },
)
