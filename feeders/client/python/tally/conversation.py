"""Requests to the daemon and its responses.

This is the only module that numbers requests, matches responses, notices lost ones, backs off after
refusals, and knows the daemon's epoch. Its users are Requesters: each says which requests are due,
and what a response means. A new kind of request is one module with a requester; __init__.py has
its public names.

A request is due until it is sent, and pending until its response.
Time-outs: the daemon responds in the order of requests, so a response shows that pending requests
before it were lost: they are due again. An idle process requests a response every second (ping),
which shows lost ones, and whether the daemon is there.
Back-off: what the daemon refused is due again 10 s after the first of these refusals: all of it
at once, so that further refusals do not put off those before them.
Epoch: every datagram carries the daemon's. Another epoch on the same connection is another daemon
that has taken over the socket: it knows nothing of this process.

Threads: guarded by the exclusion (exclusion.py), like everything that is called from here.
Limits: requests are sent by one datagram while fewer than 400 are pending: their responses must
find room in this process's queue, which may be short."""
import functools
import os
from time import monotonic_ns

from .link import SENT
from .request import GONE, REFUSED, REGISTERED, REQUESTED, UNKNOWN, Request
from .wire import DATAGRAM_BYTES, HEADER_BYTES, decode_answers, encode_header, encode_request

IDLE_NS = 1_000_000_000  # after so long without one, a ping
_REFUSED_BACK_OFF_NS = 10_000_000_000
_PENDING_MAX = 400
# How long a new subject waits for its definition before it is requested.
_DEFINITION_WAIT_NS = 10_000_000
_SEQUENCE_MAX = 0xFFFFFFFF


class Conversation:
    """report: called with a line of text. now: the clock, in nanoseconds."""

    def __init__(self, link, report, now=monotonic_ns):
        self._link, self._report, self._now = link, report, now
        self.requesters = []
        self._last_sequence = 0
        self._request_at = 0
        self.attached = -1  # the descriptor that came with the response at hand
        self.begin(0)

    # ---- beginning

    def begin(self, now):
        """On a new connection."""
        self.pending = {}  # take_response by sequence number, in order
        self.pinged_at = now
        self._has_told_silence = False
        self._forget()

    def _forget(self):
        self.epoch = 0  # until the first response
        self.due = {}  # objects that have _requests(), in order
        self.refused = {}  # the response by subject
        self.refused_changes = {}  # the last of each subject
        self._retry_at = 0
        self._is_stale = False  # since the last ping was answered
        self._is_ping_pending = False
        for requester in self.requesters:
            requester.begin()

    def end(self):
        """The connection has ended."""
        for requester in self.requesters:
            requester.end()

    # ---- due

    def make_due(self, source):
        """Sends the _requests() of this object, as soon as there is room, until withdraw()."""
        self.due[source] = None

    def make_due_soon(self, subject):
        """As make_due(), once its program has had the time to define it."""
        now = self._now()
        self.make_due(subject)
        if self._request_at <= now:
            self._request_at = now + _DEFINITION_WAIT_NS

    def withdraw(self, source):
        """Its requests were sent, or are not wanted any more."""
        self.due.pop(source, None)

    def register(self, subject):
        """Requests a subject (again), of which the daemon knows nothing."""
        subject._state = UNKNOWN
        self.make_due(subject)

    def register_again(self, subject):
        """The same if the daemon knew it. It may know it still."""
        if subject._state in (GONE, REGISTERED):
            self.register(subject)

    def drop(self, subject, in_tree):
        """The program has dropped it here. in_tree: and in the daemon, so do not request it."""
        subject._removed = in_tree
        self.refused.pop(subject, None)
        self.refused_changes.pop(subject, None)
        if in_tree:
            self.withdraw(subject)

    def is_settled(self):
        """No request is due, and only a ping is pending."""
        return not self.due and len(self.pending) == self._is_ping_pending

    def refusals(self):
        """{subject: response} of those in force, subjects before changes."""
        return {**self.refused, **self.refused_changes}

    # ---- sending

    def request_if_due(self, now):
        """Sends one datagram of requests, unless a new subject is waited for."""
        if now >= self._request_at:
            self.request()

    def request(self):
        """Sends one datagram of requests."""
        if self.refused and self._now() >= self._retry_at:
            for subject in self.refused:
                self.register(subject)
            self.refused = {}
        if len(self.pending) < _PENDING_MAX:
            requests = (each for source in self.due for each in source._requests(self))
            for request in self._send(requests):
                request.note_sent()

    # One datagram of as many requests as it holds; returns those that were sent.
    def _send(self, requests):
        taken, messages, size = [], [encode_header(self.epoch)], HEADER_BYTES
        first = self._last_sequence
        for request in requests:
            sequence = (first + len(taken)) % _SEQUENCE_MAX + 1
            encode = request.encode
            message = encode(sequence) if encode else encode_request(sequence, request.text)
            if size + len(message) > DATAGRAM_BYTES:
                break
            size += len(message)
            messages.append(message)
            taken.append(request)
        if not taken or self._link.send(b"".join(messages)) != SENT:
            return []
        for request in taken:
            self._last_sequence = self._last_sequence % _SEQUENCE_MAX + 1
            self.pending[self._last_sequence] = request.take_response
        return taken

    def ping(self, now, sent):
        """Requests a response. sent: the samples sent so far, for Requester.confirm(). One ping is
        pending at a time, unless its response takes a second."""
        if self._is_ping_pending and now - self.pinged_at < IDLE_NS:
            return
        if now - self.pinged_at >= IDLE_NS:
            self._report_silence()
        self.pinged_at = now
        pong = functools.partial(self._take_pong, sent)
        if self._send([Request("", lambda: None, pong)]):
            self._is_ping_pending = True

    # Once for a connection, if the daemon has not responded at all. The link's address is abstract:
    # a daemon in another network namespace does not see it.
    def _report_silence(self):
        if self.epoch or self._has_told_silence or not self.pending:
            return
        self._has_told_silence = True
        self._report(f"no answer from the daemon at {self._link.path}: "
                     "is it stopped, or in another network namespace?")

    def _take_pong(self, sent_before, response):
        self._is_ping_pending = False
        if response:
            for requester in self.requesters:
                requester.confirm(sent_before, self._is_stale)
            self._is_stale = False

    # ---- responses

    def receive(self):
        """Takes the responses of one datagram. False: none is there."""
        received = self._link.receive()
        if received is None:
            return False
        datagram, self.attached = received
        try:
            epoch, responses = decode_answers(datagram)
            if epoch != self.epoch:
                self._change_epoch(epoch)
            for response in responses:
                self._take(response)
        except ValueError as error:
            self._report(str(error))
        finally:
            if self.attached >= 0:
                os.close(self.attached)
        return True

    # The new daemon answers the requests that it finds in the socket, so they stay pending.
    def _change_epoch(self, epoch):
        if self.epoch:
            self._forget()
        self.epoch = epoch

    def _take(self, response):
        if response.sequence == 0:
            self._is_stale = True
            for requester in self.requesters:
                requester.take_stale()
        while response.sequence in self.pending:
            sequence = next(iter(self.pending))
            take_response = self.pending.pop(sequence)
            take_response(response if sequence == response.sequence else None)

    # ---- registration

    def registration_of(self, subject):
        """The Request that registers a subject."""
        return Request(
            subject._create_text(),
            functools.partial(self._note_requested, subject),
            functools.partial(self._take_registration, subject),
        )

    def _note_requested(self, subject):
        self.withdraw(subject)
        subject._state = REQUESTED

    def _take_registration(self, subject, response):
        if response is None:
            if subject._state == REQUESTED and not subject._removed:
                self.register(subject)
        elif response.error:
            self.refuse(subject, response)
            subject._take_refusal(response)
        else:
            subject._take_registration(response)

    def refuse(self, subject, response):
        """The daemon refused it, or that to which it belongs."""
        if not self.refused:
            self._retry_at = self._now() + _REFUSED_BACK_OFF_NS
        subject._state = REFUSED
        self.withdraw(subject)
        if not subject._removed:
            self.refused[subject] = response
        self._report(f"the daemon refused {subject._path()}: {reason_of(response)}")

    def take_change(self, subject, response):
        """The response to a change of a registered subject, or None. A refused change is reported,
        and not requested again."""
        self.refused_changes.pop(subject, None)
        if response and response.error:
            self.refused_changes[subject] = response
            words = f"the daemon refused to change {subject._path()}: {reason_of(response)}"
            self._report(words)


def reason_of(response):
    return f"{response.reason} ({os.strerror(response.error)})"
