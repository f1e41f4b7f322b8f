"""Laws: how long a mix holds messages back.

=====================  ===========================================================================
``window:1,5``         a delay from 1 to 5 seconds (also ``uniform:1,5``)
``exponential:2``      one mix with delays without memory, 2 seconds on average: a Poisson or
                       stop-and-go mix (also ``exp:2``, ``poisson:2``, ``sg:2``)
``erlang:3,0.5``       3 such mixes in a row, half a second on average in each: a path through
                       Loopix or Nym (also ``loopix:3,0.5``, ``gamma:3,0.5``)
``hops:0.5,1,2``       the same with a mean for each of two to four hops
``lognormal:5,0.5``    a delay whose log is normal: 5 seconds on average, sigma 0.5 (also
                       ``log-normal:5,0.5``; ``lognormal:5,0.5,2``: 2 seconds on top)
``measured:FILE``      delays as those in a file: seconds, one a line or a column ``delay``
``threshold:10``       a mix that waits for 10 messages and sends them on together (also
                       ``batch:10``)
``timed:60``           a mix that sends on every 60 seconds what it has (``timed:60,5``: from 5 on)
``pool:100,10``        a mix that waits for 110 messages, sends on 100 of them, and keeps 10
``timed-pool:60,10``   a mix that sends on every 60 seconds all but 10
``binomial:60,0.5``    a mix that every 60 seconds flips a coin for each message: it leaves or stays
``cottrell:60,10,0.6`` the same, so that 10 stay on average, and at least 40 in 100
=====================  ===========================================================================

Numbers are seconds a message is held on average, never rates a second. Seconds that every message
spends on links stand before the law: ``0.1+erlang:3,0.5`` (:class:`Linked`). Any other law is a
function of the delay, in Python: :class:`Free`. A law is a value with methods; ``law.py`` says
which.
"""

from anonymatch.mixes.laws.delays import (
    Free as Free,
)
from anonymatch.mixes.laws.delays import (
    Linked as Linked,
)
from anonymatch.mixes.laws.delays import (
    LogNormal as LogNormal,
)
from anonymatch.mixes.laws.delays import (
    Measured as Measured,
)
from anonymatch.mixes.laws.delays import (
    Window as Window,
)
from anonymatch.mixes.laws.exponential import (
    MOST_HOPS as MOST_HOPS,
)
from anonymatch.mixes.laws.exponential import (
    Erlang as Erlang,
)
from anonymatch.mixes.laws.exponential import (
    Exponential as Exponential,
)
from anonymatch.mixes.laws.exponential import (
    HopLaw as HopLaw,
)
from anonymatch.mixes.laws.exponential import (
    Hops as Hops,
)
from anonymatch.mixes.laws.exponential import (
    by_density as by_density,
)
from anonymatch.mixes.laws.flushes import (
    Binomial as Binomial,
)
from anonymatch.mixes.laws.flushes import (
    Cottrell as Cottrell,
)
from anonymatch.mixes.laws.flushes import (
    FlushLaw as FlushLaw,
)
from anonymatch.mixes.laws.flushes import (
    GraphFlushLaw as GraphFlushLaw,
)
from anonymatch.mixes.laws.flushes import (
    Pool as Pool,
)
from anonymatch.mixes.laws.flushes import (
    Threshold as Threshold,
)
from anonymatch.mixes.laws.flushes import (
    Timed as Timed,
)
from anonymatch.mixes.laws.flushes import (
    TimedPool as TimedPool,
)
from anonymatch.mixes.laws.guessing import (
    LawGuess as LawGuess,
)
from anonymatch.mixes.laws.guessing import (
    delay_log_density as delay_log_density,
)
from anonymatch.mixes.laws.guessing import (
    guess_flushes as guess_flushes,
)
from anonymatch.mixes.laws.guessing import (
    guess_law as guess_law,
)
from anonymatch.mixes.laws.guessing import (
    law_text as law_text,
)
from anonymatch.mixes.laws.law import (
    LATE as LATE,
)
from anonymatch.mixes.laws.law import (
    LAWS as LAWS,
)
from anonymatch.mixes.laws.law import (
    DelayLaw as DelayLaw,
)
from anonymatch.mixes.laws.law import (
    DensityLaw as DensityLaw,
)
from anonymatch.mixes.laws.law import (
    Law as Law,
)
from anonymatch.mixes.laws.law import (
    Parameter as Parameter,
)
from anonymatch.mixes.laws.law import (
    Traffic as Traffic,
)
from anonymatch.mixes.laws.law import (
    check_law as check_law,
)
from anonymatch.mixes.laws.law import (
    law_examples as law_examples,
)
from anonymatch.mixes.laws.law import (
    law_name as law_name,
)
from anonymatch.mixes.laws.law import (
    law_usage as law_usage,
)
from anonymatch.mixes.laws.law import (
    parse_law as parse_law,
)
from anonymatch.mixes.laws.law import (
    register as register,
)

for _law in (
    Window,
    Exponential,
    Erlang,
    Hops,
    LogNormal,
    Measured,
    Threshold,
    Timed,
    Pool,
    TimedPool,
    Binomial,
    Cottrell,
):
    register(_law)
