"""Memory that the daemon shares with this process, behind a descriptor that it sent."""
import ctypes
import fcntl
import mmap
import os
import weakref

_FAILED = (None, ctypes.c_void_p(-1).value)
_MAP_FIXED = 0x10


class Mapping:
    """size bytes, as `memory`, a memoryview of bytes. They are unmapped when the last view of them
    is gone. ValueError: they could shrink under their users, are fewer, or cannot be mapped."""

    def __init__(self, descriptor, size, what, protection=mmap.PROT_READ):
        try:
            seals = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
        except OSError:
            seals = 0
        if not seals & fcntl.F_SEAL_SHRINK or not 0 < size <= os.fstat(descriptor).st_size:
            raise ValueError(f"what the daemon sent is no sealed {what}")
        # The module mmap keeps a descriptor open and closes it by its number at the end. By then it
        # may be another file's, in a program that closes descriptors which it did not open.
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        numbers = 3 * [ctypes.c_int] + [ctypes.c_long]
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + numbers
        libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        address = libc.mmap(None, size, protection, mmap.MAP_SHARED, descriptor, 0)
        if address in _FAILED:
            raise ValueError(f"cannot map the {what}")
        array = (ctypes.c_char * size).from_address(address)
        weakref.finalize(array, libc.munmap, address, size).atexit = False
        self._map = libc.mmap
        self._place = address, size
        self.memory = memoryview(array).cast("B")

    def make_private(self):
        """In a forked child: what is written from now on is written nowhere else."""
        protection = mmap.PROT_READ | mmap.PROT_WRITE
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED
        self._map(*self._place, protection, flags, -1, 0)
