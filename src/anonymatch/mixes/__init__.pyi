"""Mix logs and networks of mixes: delay laws, readers, solvers and closed forms."""

from anonymatch.mixes import (
    closed_forms as closed_forms,
)
from anonymatch.mixes.audit import (
    MessageAudit as MessageAudit,
    MixAudit as MixAudit,
    MixCost as MixCost,
    NetworkAudit as NetworkAudit,
)
from anonymatch.mixes.closed_forms import (
    FlushBits as FlushBits,
    Price as Price,
    alone_probability as alone_probability,
    batch_bits_per_message as batch_bits_per_message,
    candidate_senders as candidate_senders,
    ceiling_bits as ceiling_bits,
    corrupt_path_share as corrupt_path_share,
    exponential_bits as exponential_bits,
    exponential_bits_per_message as exponential_bits_per_message,
    exponential_mix_count as exponential_mix_count,
    exponential_mix_inside as exponential_mix_inside,
    exponential_mix_log as exponential_mix_log,
    flush_bits as flush_bits,
    log_ceiling_bits as log_ceiling_bits,
    loopix_guess as loopix_guess,
    n_minus_1_price as n_minus_1_price,
    network_bits as network_bits,
    noise_privacy as noise_privacy,
    pool_bits as pool_bits,
    pool_mix_bits as pool_mix_bits,
    thin_network_bits as thin_network_bits,
    threshold_bits as threshold_bits,
    threshold_mix_bits as threshold_mix_bits,
    timed_bits as timed_bits,
)
from anonymatch.mixes.formats import (
    SOURCES as SOURCES,
)
from anonymatch.mixes.formats.message_files import (
    read_messages as read_messages,
    write_messages as write_messages,
)
from anonymatch.mixes.formats.mixmatch import (
    read_flow_pairs as read_flow_pairs,
)
from anonymatch.mixes.formats.network_files import (
    read_network as read_network,
)
from anonymatch.mixes.formats.relay_files import (
    is_relays as is_relays,
    read_relays as read_relays,
)
from anonymatch.mixes.formats.relays import (
    path_counts as path_counts,
    relay_graph as relay_graph,
    relay_weights as relay_weights,
)
from anonymatch.mixes.formats.simulators import (
    read_mixim as read_mixim,
    read_nym as read_nym,
)
from anonymatch.mixes.formats.source_format import (
    SourceFormat as SourceFormat,
)
from anonymatch.mixes.laws import (
    Binomial as Binomial,
    Cottrell as Cottrell,
    DelayLaw as DelayLaw,
    DensityLaw as DensityLaw,
    Erlang as Erlang,
    Exponential as Exponential,
    FlushLaw as FlushLaw,
    Free as Free,
    GraphFlushLaw as GraphFlushLaw,
    HopLaw as HopLaw,
    Hops as Hops,
    LAWS as LAWS,
    Law as Law,
    LawGuess as LawGuess,
    Linked as Linked,
    LogNormal as LogNormal,
    Measured as Measured,
    Pool as Pool,
    Threshold as Threshold,
    Timed as Timed,
    TimedPool as TimedPool,
    Window as Window,
    by_density as by_density,
    check_law as check_law,
    delay_log_density as delay_log_density,
    guess_law as guess_law,
    law_name as law_name,
    law_text as law_text,
    law_usage as law_usage,
    parse_law as parse_law,
    register as register,
)
from anonymatch.mixes.laws.candidates import (
    CUT as CUT,
    Candidates as Candidates,
    edges_of as edges_of,
)
from anonymatch.mixes.logs.labels import (
    lost_slot_names as lost_slot_names,
)
from anonymatch.mixes.logs.log_graph import (
    exponential_graph as exponential_graph,
    passage_graph as passage_graph,
)
from anonymatch.mixes.logs.log_problem import (
    LogProblem as LogProblem,
    on_clock_of as on_clock_of,
)
from anonymatch.mixes.logs.messages import (
    Messages as Messages,
)
from anonymatch.mixes.logs.observation import (
    Conditions as Conditions,
    FLOWS as FLOWS,
    MESSAGES as MESSAGES,
    MessageObservation as MessageObservation,
    Network as Network,
    NetworkObservation as NetworkObservation,
    Nouns as Nouns,
    Observation as Observation,
    PEOPLE as PEOPLE,
    Passage as Passage,
    RINGS as RINGS,
    USERS as USERS,
    network_of as network_of,
    passage_of as passage_of,
)
from anonymatch.mixes.logs.observing import (
    observe as observe,
)
from anonymatch.mixes.networks.network_graphs import (
    MixGraph as MixGraph,
    mix_graphs as mix_graphs,
)
from anonymatch.mixes.options import (
    LogOptions as LogOptions,
    ReadOptions as ReadOptions,
    TrafficOptions as TrafficOptions,
)
from anonymatch.mixes.reading.detect import (
    FirstLook as FirstLook,
    PARTS as PARTS,
    first_look as first_look,
    has_rounds as has_rounds,
    open_observation as open_observation,
    read as read,
)
from anonymatch.mixes.reading.hints import (
    guess_log_law as guess_log_law,
    log_mean_delay as log_mean_delay,
)
from anonymatch.mixes.solvers.any_delay import (
    delay_cost as delay_cost,
    delay_figures as delay_figures,
)
from anonymatch.mixes.solvers.exponential import (
    FlushTotals as FlushTotals,
    passage_asked as passage_asked,
    passage_count as passage_count,
    passage_figures as passage_figures,
    stay_of as stay_of,
)
from anonymatch.mixes.solvers.flushes.flush_chain import (
    flush_figures as flush_figures,
)
from anonymatch.mixes.solvers.flushes.flush_rule import (
    FlushRule as FlushRule,
    flush_numbers as flush_numbers,
    rounding as rounding,
)
from anonymatch.mixes.solvers.hops.hidden_chain import (
    HiddenPairs as HiddenPairs,
    hidden_figures as hidden_figures,
    hidden_pairs as hidden_pairs,
)
from anonymatch.mixes.solvers.hops.hidden_rates import (
    FreeRate as FreeRate,
    Rates as Rates,
    fit_rates as fit_rates,
)
from anonymatch.mixes.solvers.hops.phase_chain import (
    phase_figures as phase_figures,
)
from anonymatch.mixes.solvers.hops.phase_log import (
    check_hops as check_hops,
    phase_seconds as phase_seconds,
)
from anonymatch.mixes.solvers.links import (
    Channel as Channel,
    Dummies as Dummies,
    LinkFigures as LinkFigures,
    LinkProblem as LinkProblem,
    ReceiverFigures as ReceiverFigures,
    entropy_slack as entropy_slack,
    two_outcomes as two_outcomes,
)
from anonymatch.mixes.solvers.networks.forwarding import (
    ForwardPlan as ForwardPlan,
    LinkedNetwork as LinkedNetwork,
    NetworkMarginals as NetworkMarginals,
    NetworkSample as NetworkSample,
    forward_marginals as forward_marginals,
    marginals_of as marginals_of,
    network_sample as network_sample,
)
from anonymatch.mixes.solvers.networks.network_chains import (
    LinkLoops as LinkLoops,
    MixEvents as MixEvents,
    MixRates as MixRates,
    NetworkSteps as NetworkSteps,
    mix_events as mix_events,
    network_evidence as network_evidence,
    network_steps as network_steps,
    steps_cost as steps_cost,
)
from anonymatch.mixes.solvers.networks.network_histories import (
    NetworkJoint as NetworkJoint,
    Weigh as Weigh,
    network_joint as network_joint,
    two_layer_bits as two_layer_bits,
)
from anonymatch.mixes.solvers.offers import (
    LogOffer as LogOffer,
    Refusal as Refusal,
    SOLVERS as SOLVERS,
    Solver as Solver,
    SolverOffer as SolverOffer,
    explain_graph as explain_graph,
    explain_solvers as explain_solvers,
    solve as solve,
)
from anonymatch.mixes.solvers.wide.bands import (
    LinkBand as LinkBand,
    WideBand as WideBand,
)
from anonymatch.mixes.solvers.wide.link_estimate import (
    LINKS_CONFIDENCE as LINKS_CONFIDENCE,
    LinksEstimate as LinksEstimate,
)
from anonymatch.mixes.solvers.wide.swap_chain import (
    BandEstimate as BandEstimate,
    band_seconds as band_seconds,
    estimate_band as estimate_band,
)
from anonymatch.mixes.solvers.wide.wide_links import (
    estimate_links as estimate_links,
    links_cost as links_cost,
)
from anonymatch.mixes.synthetic import (
    synthesize as synthesize,
    synthesize_network as synthesize_network,
    write_network as write_network,
)
from anonymatch.mixes.audits.networks import (
    network_answers as network_answers,
)
from anonymatch.mixes.audits.passages import (
    bare_channel as bare_channel,
    passed as passed,
)
from anonymatch.mixes.audits.people import (
    people as people,
    people_bits as people_bits,
    people_notes as people_notes,
)
from anonymatch.mixes.audits.rates import (
    UsedRates as UsedRates,
    used_rates as used_rates,
)
from anonymatch.mixes.audits.receivers import (
    fewest_receivers as fewest_receivers,
)
from anonymatch.mixes.formats import (
    message_columns as message_columns,
)
from anonymatch.mixes.formats.message_columns import (
    matched as matched,
)
