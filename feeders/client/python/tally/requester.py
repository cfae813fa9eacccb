"""A user of the conversation, and the calls that it gets."""


class Requester:
    """Each method may be overridden; here it does nothing. All are called inside the exclusion,
    except flush()."""

    def begin(self):
        """Nothing is known of the daemon: all its requests are due."""

    def end(self):
        """The connection has ended. The last responses hold until begin()."""

    def take_stale(self):
        """A number that was sent names nothing; the daemon does not say which."""

    def confirm(self, sent_before, is_stale):
        """A ping's response: the daemon has taken in the samples sent_before it, of which some
        named nothing if is_stale."""

    def point_at_switches(self):
        """The page of switches has come."""

    def look(self):
        """Once a second while idle: finds numbers that the page of switches says are void."""

    def end_round(self):
        """Once in each round of the keeper."""

    def flush(self):
        """At statistic_flush() and at the end of the process. Called outside the exclusion; waits
        0.1 s at most."""

    def inherit(self):
        """In a forked child, before begin()."""

    def wake_up(self):
        """At the first call of a forked child."""
