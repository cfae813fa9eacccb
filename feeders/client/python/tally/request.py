"""The parts of a conversation: requests, and the subjects that they register.

Guarded by the exclusion."""
from typing import Callable, NamedTuple, Optional

from .wire import Answer

# Standings of a subject: no daemon knows it; its request is in flight; it has a number; the daemon
# refused it; the daemon had it, and a user has removed it there.
UNKNOWN, REQUESTED, REGISTERED, REFUSED, GONE = range(5)


class Request(NamedTuple):
    text: str  # a command line; "" requests a response and nothing else
    note_sent: Callable[[], object]
    # Called once, with the response, or with None if that was lost.
    take_response: Callable[[Optional[Answer]], object]
    # Of a message that is no command line: its bytes, by the sequence number.
    encode: Optional[Callable[[int], bytes]] = None


class Subject:
    """An interface, a statistic or an event: the daemon gives it a number, by one request."""

    __slots__ = ("_state", "_number", "_removed")

    def __init__(self):
        self._state = UNKNOWN
        self._number = 0  # 64 bits: the low half is its place in the page of switches
        self._removed = False  # its program has removed it from the tree, too

    def _path(self):
        """Its name in messages."""
        raise NotImplementedError

    def _create_text(self):
        """The request that registers it."""
        raise NotImplementedError

    def _requests(self, conversation):
        """Yields the requests that can be sent now."""
        yield conversation.registration_of(self)

    def _take_registration(self, response):
        """The daemon has registered it."""
        raise NotImplementedError

    def _take_refusal(self, response):
        """The daemon has refused it. This may be overridden."""
