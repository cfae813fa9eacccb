"""Views: further ways to look at what is fed to a statistic."""
from .registry import registry
from .shown import Shown
from .switches import OFF


class View(Shown):
    """One view of a statistic, made by Statistic.create_view(). The daemon gives it every sample
    that its source gets. It is defined, turned on and off, and dropped as a statistic is, but takes
    no samples of its own: those added to it by the functions of the C library's names are ignored.
    Views go with a source that is removed."""

    __slots__ = ("_source",)

    def __init__(self, source, name):
        """See Statistic.create_view()."""
        super().__init__(source.interface, name, None)
        self._source = source.name
        self._on = self._begin = True
        registry.add_statistic(self)
        source._feed_view(self)

    def _create_text(self):
        on = self._begin if "on" in self._late else self._on
        words = ["create", self._path(), f"of={self._source}", self._type, f"on={on:d}"]
        return " ".join(filter(None, words))

    def _find_source(self):
        return self.interface._statistics.get(self._source)

    def _note_answered(self):
        source = self._find_source()
        if source is not None:
            source._end_wait_for_view(self)

    def _forget_registration(self, is_leaving):
        super()._forget_registration(is_leaving)
        source = self._find_source()
        if source is not None and not is_leaving:
            source._await_view(self)

    # It takes no samples, by whatever function: its switch stays off.
    @property
    def _switch(self):
        return OFF

    @_switch.setter
    def _switch(self, switch):
        pass

    def __repr__(self):
        return f"<tally.View {self._path()}>"
