"""Settings of this process's feeder, and where its daemon is looked for."""
import errno
import os
from typing import Callable, NamedTuple, Optional

from .checks import check_number, os_error

_SOCKET_PATH_BYTES_MAX = 107  # of sockaddr_un


class Settings(NamedTuple):
    """The arguments of statistic_configure()."""

    # The daemon's socket; a path of at most 107 bytes. None: $TALLY_SOCKET, else
    # /run/tallyfs/socket for root and $XDG_RUNTIME_DIR/tallyfs/socket for others.
    socket: Optional[str] = None
    # How long a sample may wait for others before it is sent, 0 to 10,000,000. 0: each sample is
    # sent by itself, in the call that adds it.
    delay_us: int = 10_000
    # 0 to 60,000. When the daemon's queue and the room of held_max are both full, the call that
    # adds a sample waits at most so long for room; then it drops the sample and counts it. After
    # one wait in vain no call waits until the daemon has taken something. 0: a sample without room
    # is dropped and counted at once. Without a daemon no call waits.
    wait_ms: int = 0
    # Samples held for the process while they cannot be sent; 1,024 to 1,048,576, 32 bytes each.
    held_max: int = 65_536
    # Called with a line of text when the daemon was found or lost, or has refused something. Calls
    # are made by this package's own thread.
    report: Optional[Callable[[str], object]] = None
    # True: all samples are sent, and none is counted in memory shared with the daemon.
    no_lane: bool = False

    def check(self):
        """Raises ValueError: a number is out of its range; OSError: ENAMETOOLONG, the path."""
        check_number("delay_us", self.delay_us, 0, 10_000_000)
        check_number("wait_ms", self.wait_ms, 0, 60_000)
        check_number("held_max", self.held_max, 1024, 1048576)
        if self.socket is not None and len(os.fsencode(self.socket)) > _SOCKET_PATH_BYTES_MAX:
            raise os_error(errno.ENAMETOOLONG, f"the socket's path is too long: {self.socket}")


class Configured:
    """The settings in force. They change only before the first interface is created."""

    def __init__(self):
        self.settings = Settings()


def _environment(name):
    """As secure_getenv(3): a process with more rights than its caller is not told by the caller
    where to send."""
    if os.getuid() != os.geteuid() or os.getgid() != os.getegid():
        return None
    return os.environ.get(name)


def find_socket_paths(given=None):
    """The paths at which to look for the daemon, in order: the given one, else $TALLY_SOCKET, else
    the system's. A user other than root looks at $XDG_RUNTIME_DIR/tallyfs/socket first."""
    told = given or _environment("TALLY_SOCKET")
    if told:
        return [told]
    of_the_system = "/run/tallyfs/socket"
    runtime = _environment("XDG_RUNTIME_DIR")
    if os.geteuid() == 0 or not runtime:
        return [of_the_system]
    return [runtime + "/tallyfs/socket", of_the_system]
