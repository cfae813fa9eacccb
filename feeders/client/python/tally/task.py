"""Facts about the calling thread, from /proc and the C library."""
import ctypes
import functools
from typing import NamedTuple


class Task(NamedTuple):
    pid: int  # the thread's id
    comm: str
    priority: int  # the kernel's, 0 to 139
    cpu: int  # on which it ran last


def own_task():
    """The calling thread. OSError: /proc is not mounted."""
    with open("/proc/thread-self/stat", "rb") as file:
        pid, _, rest = file.read().partition(b" (")
    comm, _, fields = rest.rpartition(b") ")
    numbers = fields.split()
    # proc(5) counts fields from 1 and these begin with the third; its priority is 100 less than
    # the kernel's.
    priority, cpu = 100 + int(numbers[18 - 3]), int(numbers[39 - 3])
    return Task(int(pid), comm.decode("utf-8", "replace"), priority, cpu)


def own_name():
    """The thread's name, at most 15 bytes; empty without /proc."""
    try:
        with open("/proc/thread-self/comm", "rb") as file:
            return file.readline().rstrip(b"\n")[:15]
    except OSError:
        return b""


def own_cpu():
    """The CPU on which the thread runs; 0 if the C library cannot say."""
    try:
        return max(_libc().sched_getcpu(), 0)
    except AttributeError:
        return 0


@functools.lru_cache(maxsize=1)
def _libc():
    return ctypes.CDLL(None)
