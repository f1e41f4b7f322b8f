"""Parts of a page that are computed: what is shown meanwhile, and which answer counts."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import TypeVar

from nicegui import background_tasks, ui

from anonymatch.base.errors import AnonymatchError
from anonymatch.base.numbers import shown, time_in_words
from anonymatch.running import Cancelled, Progress
from anonymatch.studio import widgets as w
from anonymatch.studio.background import BackgroundJob, Track, problem
from anonymatch.studio.session import Studio
from anonymatch.studio.tuning import TUNING
from anonymatch.studio.uploads import Upload

T = TypeVar("T")
_PATIENCE = 1.2  # seconds that a page waits for its first answer before it is sent without it


class View:
    """A place on a page whose content is the answer of some work, the latest that was asked for.

    Work runs beside the page. While it does, its progress is shown with a button that stops it,
    after which it is offered again; work that is asked for anew, or whose page is closed, is
    stopped. Work that cannot stop in its middle is waited for, so that one place never keeps more
    than one thread busy.
    """

    def __init__(self, words: str) -> None:
        self._words = words
        self._job: BackgroundJob[object] | None = None
        self._turn = Lock()
        self._failed = False
        with w.box("div", aria_busy="false") as self._place:
            self._busy = w.box("div", role="status")
            self._content = w.box("div")
        self._client = self._place.client
        self._client.on_delete(self.stop)

    async def ask(self, work: Callable[[Progress], T], show: Callable[[T], None]) -> None:
        """Run ``work`` and put its answer in place with ``show``; wait a little for it."""
        task = background_tasks.create(self._run(work, show), name="studio view")
        await asyncio.wait({task}, timeout=_PATIENCE)

    def stop(self) -> None:
        """Let go of what is under way."""
        if self._job is not None:
            self._job.cancel()

    def clear(self) -> None:
        """Show nothing, not even that something was stopped."""
        self.stop()
        self._job = None
        self._place.props["aria-busy"] = "false"
        self._busy.clear()
        self._content.clear()

    def say(self, words: str) -> None:
        """Show a line instead of an answer; nothing if it is empty."""
        if words:
            with self._content:
                w.text(words, "p", "note")

    async def _run(self, work: Callable[[Progress], T], show: Callable[[T], None]) -> None:
        self.stop()
        if self._failed:  # what went wrong before is not what is shown beside new work
            self._content.clear()
        job: BackgroundJob[T] = BackgroundJob(partial(self._in_turn, work))
        self._job = job  # type: ignore[assignment]
        waiting = background_tasks.create(self._wait(job), name="studio progress")
        error = ""
        try:
            result = await job.result()
        except Cancelled:
            error = "" if self._job is not job else "stopped"
        except Exception as fault:
            error = problem(fault)
        waiting.cancel()
        if self._job is not job or self._client.is_deleted:
            return  # somebody asked for something else meanwhile
        self._job = None
        self._busy.clear()
        self._place.props["aria-busy"] = "false"
        self._content.clear()
        self._failed = bool(error)
        with self._content:
            if error == "stopped":
                with w.box("div", "row stopped", role="status"):
                    w.text("Stopped. Nothing was changed.", "span")
                    w.button("Again", lambda: self.ask(work, show))
            elif error:
                w.alert(error)
            else:
                for note in job.notes:
                    w.text(note, "p", "note")
                self._show(show, result)

    def _show(self, show: Callable[[T], None], result: T) -> None:
        try:
            show(result)
        except AnonymatchError as error:
            self._content.clear()
            self._failed = True
            w.alert(problem(error))

    def _in_turn(self, work: Callable[[Progress], T], tell: Progress) -> T:
        with self._turn:
            tell(0.0, 0.0)  # raises if nobody wants it any more
            return work(tell)

    async def _wait(self, job: BackgroundJob[T]) -> None:
        """Show progress once it is clear that there is time to look at it."""
        await asyncio.sleep(2 * TUNING.glance)
        self._place.props["aria-busy"] = "true"
        self._busy.clear()
        with self._busy, w.box("div", "busy"):
            w.text(f"{self._words} …", "span")
            bar = w.box("progress", max=1, aria_label=self._words)
            far = w.text("", "span", "far")
            far.props["aria-hidden"] = "true"  # else a reader of screens hears it every second
            w.button("Stop", self.stop, aria_label=f"Stop: {self._words}")
        while not job.done:
            if 0 < job.track.share < 1:
                bar.props["value"] = round(job.track.share, 3)
            else:  # what comes is not known: the bar moves without saying how far
                bar.props.pop("value", None)
            far.set_content(how_far(job.track))
            await asyncio.sleep(TUNING.glance)


class FilePage:
    """An open page that takes dropped files, which are removed when it is closed."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.client = ui.context.client
        self.id = self.client.id
        studio.inboxes[self.id] = self.arrived
        self.client.on_delete(self._closed)

    async def arrived(self, upload: Upload, slot: str, more: bool) -> None:
        """Take a file; ``more`` follow that were dropped together."""
        raise NotImplementedError

    def _closed(self) -> None:
        self.studio.inboxes.pop(self.id, None)
        self.studio.store.leave(self.id)

    def drop(self, words: str, hint: str = "", *, slot: str = "file", several: int = 1) -> None:
        """Show a place to drop files on."""
        store = self.studio.store
        limits = {"limit": store.limit, "several": several}
        w.drop_zone(f"/upload/{self.id}", slot, words, hint, refusal=store.refusal, **limits)

    def notice(self, gone: bool) -> ui.element:
        """Show a place for alerts, with one if the file of the address is gone."""
        with w.box("div") as place:
            if gone:
                w.alert("a file of this address is no longer here; drop it again")
        return place


def how_far(track: Track) -> str:
    """How far work is, in words.

    Examples
    --------
    >>> track = Track()
    >>> how_far(track)
    'under a second so far'
    >>> track.tell(1.0, 4.0)
    >>> how_far(track)
    '25 %, under a second left'
    >>> track.tell(4.0, 4.0)  # of this step: others may follow
    >>> how_far(track)
    'under a second so far'
    """
    left = track.left
    if not left:
        return f"{time_in_words(math.floor(track.elapsed))} so far"
    return f"{100 * track.share:.0f} %, {time_in_words(math.ceil(left) if left > 1 else left)} left"


def bits_text(bits: float | None) -> str:
    """A number of matchings by its bits, in digits while they are few.

    Examples
    --------
    >>> bits_text(3.0), bits_text(2.5), bits_text(12.3), bits_text(200.5), bits_text(None)
    ('8', '5.657', 'about 5,043', '2^200.5', 'not known')
    """
    if bits is None:
        return "not known"
    if not -10 < bits < 40:
        return f"2^{bits:.6g}"
    value = 2.0**bits
    if value > 0.5 and abs(value - round(value)) < 1e-3:
        return shown(round(value))
    return f"about {value:,.0f}" if value >= 1000 else f"{value:.4g}"
