"""What a plan says of its setting, line by line: the same in the terminal and in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymatch.base.numbers import amount, percent, span

if TYPE_CHECKING:
    from anonymatch.base.interval import Interval
    from anonymatch.planning.result import NetworkPlan, Setting

__all__ = ["plan_figures"]

Line = tuple[str, str, str]


def plan_figures(plan: NetworkPlan, *, half_life: bool = True) -> list[Line]:
    """Name, value and meaning of what the best setting gives, or else the nearest; none if none.

    The half-life takes a simulation of its own, so it can be left out.

    Examples
    --------
    >>> import anonymatch as am
    >>> plan = am.plan(users=100, rate=0.1, network="one", laws="threshold:10", mean_delay=2)
    >>> [name for name, _, _ in plan_figures(plan, half_life=False)][:3]
    ['setting', 'cover', 'mean delay']
    """
    setting = plan.best or plan.nearest
    return [] if setting is None else _lines(plan, setting, half_life)


def _lines(plan: NetworkPlan, setting: Setting, half_life: bool) -> list[Line]:
    share = percent(plan.request.targets.worst)
    how = "simulated again with seeds of its own" if setting.confirmed else "of the sweep"
    eyes = f"attacker: {setting.attacker}"
    lines = [
        ("setting", setting.law, f"{how}: {setting.targets:,} messages followed"),
        ("cover", amount(setting.cover), "cover packets per message, from end to end"),
        ("mean delay", f"{_span(setting.mean_delay)} s", "of the network, links included"),
        (
            "99 % delay",
            f"{_span(setting.delay_99)} s",
            "99 % of messages leave the network by then",
        ),
        (
            "entropy",
            f"{_span(setting.entropy)} bits",
            f"mean over messages; {eyes}",
        ),
        (
            f"worst {share}",
            f"hide among {amount(setting.worst.value)}",
            f"at least {amount(setting.worst.low)} with {percent(plan.confidence)}; {eyes}",
        ),
        ("identified", percent(setting.identified.value), f"{_identified(setting)}; {eyes}"),
        (
            "n-1 attack",
            setting.n1_price,
            "cost per mix for an attacker who can send and block messages",
        ),
    ]
    stream = setting.client()
    if stream is not None:
        meaning = (
            f"mean wait in a client's queue, in addition, if clients send at a steady "
            f"{amount(stream.payload)} packets per second (LambdaP), see --emit"
        )
        lines.insert(4, ("queue delay", f"{amount(stream.queue_delay)} s", meaning))
    if half_life and plan.half_life is not None:
        meaning = (
            "of a user with 3 contacts until the attacker's uncertainty about them has halved, "
            "see rounds; attacker: as for the entropy, in every round"
        )
        lines.append(("half-life", f"{amount(plan.half_life.value)} messages", meaning))
    if setting.ceiling is not None:
        meaning = (
            "upper bound of the entropy for every mix with this traffic and mean delay; attacker: "
            "sees at least both ends"
        )
        lines.append(("ceiling", f"{setting.ceiling.value:.2f} bits", meaning))
    if setting.guessing is not None:
        meaning = f"until the right departure, the likeliest first (guessing entropy); {eyes}"
        lines.append(("guesses", amount(setting.guessing.value), meaning))
    if plan.corrupt_path_share:
        lines.append(
            (
                "corrupt paths",
                percent(plan.corrupt_path_share),
                "of messages pass only corrupt mixes: delay and cover do not help them",
            )
        )
    causes = "; ".join(
        f"{percent(share)} {name}"
        for name, share in sorted(setting.causes.items(), key=lambda item: -item[1])
    )
    lines.append(("who they are", f"worst {share}", causes))
    return lines


def _identified(setting: Setting) -> str:
    return f"of messages are identified; at most {percent(setting.identified.high)}"


def _span(interval: Interval) -> str:
    return span(interval.value, interval.low, interval.high)
