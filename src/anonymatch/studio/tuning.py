"""Limits of the studio: how long pages wait, and how much they draw."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StudioTuning:
    """Seconds of waiting and work, and sizes up to which something is drawn or followed."""

    polite: float = 0.3  # seconds that work has to end by itself before it is interrupted
    again: float = 2.0  # seconds after which a thread that still runs is interrupted again
    glance: float = 0.15  # seconds between two looks at the progress of work
    start_glance: float = 0.02  # seconds between two looks whether the server answers
    reconnect: float = 15.0  # seconds that a page may be silent: machines that count are busy
    kept: int = 8  # answers of each kind that are remembered
    most_files: int = 10_000  # files that are unpacked
    piece: int = 1 << 20  # bytes that are unpacked at once
    named: int = 5  # files that an error names
    audit_seconds: float = 30.0  # for exact answers of an audit
    seeds: int = 99  # largest number of a truth
    prospects: int = 40  # targets that the chart compares
    marked_steps: int = 20  # exposures of marked users that are followed at once
    exposure_seconds: float = 5.0  # for one exposure
    followed_users: int = 200  # users of a graph that is attacked step by step
    together: int = 12  # files that may be dropped at once
    announced: float = 20.0  # seconds after which announced files are not waited for
    suggested: int = 1000  # users that the search field suggests
    design_slider: int = 60  # users on the slider of designs
    design_users: int = 1_000_000  # users of a design
    line_users: int = 12  # users up to which graphs are drawn as dots and lines
    drawn_users: int = 400  # users up to which graphs are made and drawn
    attacked_users: int = 60  # users up to which a campaign is followed
    design_steps: int = 12  # exposures of a design
    design_seconds: float = 1.0  # for each figure of a graph that is not in closed form
    load_points: int = 300  # of a load that is followed
    load_bins: int = 60  # of arrivals and departures
    tried: int = 300  # messages whose candidates are weighed
    weighed: int = 20_000  # candidates of one of them
    delay_bins: int = 40  # of delays
    curve_points: int = 200  # of a density
    tail: float = 0.995  # share of the delays that are drawn
    digits: int = 4  # of bits in the table of a report, by which it is filtered
    bars: int = 40  # candidates that are drawn
    searched_edges: int = 2_000_000  # edges of a graph in which neighbours are searched
    rest: float = 0.4  # seconds that sliders rest before work begins
    front_begin: float = 0.25  # packets inside a mix: begin of the closed form
    front_end: float = 20.0  # its end
    front_points: int = 40  # its points
    emptiest: float = 0.01  # packets inside a mix that a delay may mean, at least
    deepest: float = 1e5  # and at most
    widest: int = 10_000  # mixes of a network that is widened
    plan_seconds: float = 60.0  # predicted for a simulation; longer ones are coarser
    chain_seconds: float = 20.0  # of chains over rounds
    first_users: int = 10  # users in the table of who falls first
    pairs: int = 20  # pairs in a table, if the matrix is too large to draw


TUNING = StudioTuning()
