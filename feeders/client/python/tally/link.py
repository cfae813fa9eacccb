"""The socket to the daemon. Guarded by the exclusion (see exclusion.py), except wait()."""
import errno
import select
import socket
import sys
import time

SENT, QUEUE_FULL, DAEMON_GONE = range(3)  # results of send()
_SEND_BUFFER_BYTES = 4 << 20
_ANSWER_BYTES_MAX = 16 * 1024
# Of asm-generic/socket.h; the module socket has no names for them.
_SO_SNDBUFFORCE, _SO_COOKIE = 32, 57


class Link:
    """This process's end: connected to the daemon's socket, and bound to an address that the kernel
    chose, to which the daemon answers. A connected socket receives from its peer only. No call
    blocks, except wait()."""

    def __init__(self):
        self.socket = None
        self.full = False  # the last send() found no room
        self.path = ""  # the last one that was connected to

    def connect(self, path):
        """OSError: there is no daemon at this path, or it may not be reached."""
        made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        try:
            made.bind("")
            made.connect(path)
            _enlarge_send_buffer(made)
            self._cookie = made.getsockopt(socket.SOL_SOCKET, _SO_COOKIE, 8)
        except OSError:
            made.close()
            raise
        self.socket, self.full, self.path = made, False, path

    def close(self):
        if self._is_ours():
            self.socket.close()
        elif self.socket:
            self.socket.detach()
        self.socket, self.full = None, False

    # A program that closes descriptors which it did not open, as daemons do at their start, closes
    # this socket too, and its number may be another file's by now.
    def _is_ours(self):
        try:
            cookie = self.socket and self.socket.getsockopt(socket.SOL_SOCKET, _SO_COOKIE, 8)
        except OSError:
            return False
        return bool(cookie) and cookie == self._cookie

    def send(self, datagram):
        """SENT; QUEUE_FULL: the daemon's queue has no room; DAEMON_GONE: the link is closed."""
        if not self._is_ours():
            self.close()
            return DAEMON_GONE
        try:
            self.socket.send(datagram, socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.ENOBUFS, errno.ENOMEM):
                self.full = True
                return QUEUE_FULL
            self.close()
            return DAEMON_GONE
        self.full = False
        return SENT

    def receive(self):
        """(datagram, descriptor attached to it or -1), or None: no datagram is there. The caller
        closes the descriptor."""
        if not self._is_ours():
            return None
        # recv_fds() of Python 3.9 ignores the flags.
        flags = socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC
        try:
            data, parts, _, _ = self.socket.recvmsg(_ANSWER_BYTES_MAX, socket.CMSG_LEN(4), flags)
        except OSError:
            return None
        attached = [int.from_bytes(rights, sys.byteorder) for level, kind, rights in parts
                    if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)]  # fmt: skip
        return data, attached[0] if attached else -1

    def wait(self, events, seconds):
        """Waits for an answer (POLLIN) or for room (POLLOUT). Takes no lock, so another thread may
        close the socket meanwhile: seconds must be short."""
        poll = select.poll()
        try:
            poll.register(self.socket, events)
        except (TypeError, ValueError):
            return time.sleep(seconds)
        poll.poll(seconds * 1000)


def _enlarge_send_buffer(made):
    for option in (_SO_SNDBUFFORCE, socket.SO_SNDBUF):
        try:
            return made.setsockopt(socket.SOL_SOCKET, option, _SEND_BUFFER_BYTES)
        except OSError:
            pass  # without privileges net.core.wmem_max is the limit
