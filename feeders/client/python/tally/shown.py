"""What statistics and views share: they are defined, turned on and off, and dropped."""
from .definition import Definable
from .fed_statistic import FedStatistic
from .registry import registry


class Shown(FedStatistic, Definable):
    __slots__ = ()

    # ---- on and off
    #
    # The first of start(), stop() and reset() says how the statistic begins: it applies if the
    # statistic is new, and leaves alone one that was there before, which its users have defined.
    # Later ones are carried out, in their order with the samples that this thread adds. A daemon
    # that is started anew learns the last state.

    def start(self):
        """Turns the statistic on."""
        self._turn(True)

    def stop(self):
        """Turns the statistic off."""
        self._turn(False)

    def reset(self):
        """Discards the samples that were counted so far."""
        self._reset()

    # ---- the end

    def remove(self):
        """Drops it here and from the tree. Samples that were added before are sent before."""
        registry.drop_statistic(self, in_tree=True)

    def release(self):
        """Drops it here. The tree keeps it, to be read. Samples that were added before are sent."""
        registry.drop_statistic(self, in_tree=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()
