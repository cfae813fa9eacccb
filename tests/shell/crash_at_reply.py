#!/usr/bin/env python3
"""Crashes two servers of a keeper as they are about to answer one and the same write.

    crash_at_reply.py KEEPER FILE LINE

Traces the keeper and its servers (ptrace). When a server replies to the write of LINE into FILE, it
gets SIGABRT instead, and so does the next one, to which the kernel sends the write again. Prints
how the write ends then: "done", or the name of its errno. Ends with 3 where it may not trace.
"""
import ctypes
import errno
import os
import signal
import struct
import sys

from keeper import server_of

KEEPER, FILE, LINE = int(sys.argv[1]), sys.argv[2], sys.argv[3]
CRASHES = 2
CONT, SYSCALL, SEIZE, INTERRUPT, SYSCALL_INFO = 7, 24, 0x4206, 0x4207, 0x420E
SYSGOOD, FORKS, CLONES = 1, 2, 8
EVENT_STOP = 128
WALL = 0x40000000
READ, WRITEV = {"x86_64": (0, 20), "aarch64": (63, 66)}[os.uname().machine]
FUSE_WRITE = 16
RESENT = 1 << 63

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, tid, address=0, data=0):
    """False: it has gone meanwhile."""
    if libc.ptrace(request, tid, address, data) >= 0:
        return True
    if ctypes.get_errno() == errno.EPERM:
        sys.exit(3)
    return False


def memory(tid, address, size):
    with open(f"/proc/{tid}/mem", "rb", buffering=0) as file:
        file.seek(address)
        return file.read(size)


class Crasher:
    """Sees each system call of the servers."""

    def __init__(self, writer):
        self.writer = writer
        self.unique = None  # of the write
        self.crashes = 0
        self.calls = {}     # tid: number and arguments of the call that it is in

    def look(self, tid):
        """At a stop on the way into a system call, or out of it. True: it is that reply."""
        info = ctypes.create_string_buffer(88)
        if not ptrace(SYSCALL_INFO, tid, len(info), ctypes.addressof(info)):
            return False
        if info.raw[0] == 1:
            self.calls[tid] = struct.unpack_from("=7Q", info.raw, 24)
            return self.is_reply(tid, *self.calls[tid][:3])
        if info.raw[0] == 2:
            self.leave(tid, struct.unpack_from("=q", info.raw, 24)[0])
        return False

    def is_reply(self, tid, number, _, parts):
        if number != WRITEV or self.unique is None:
            return False
        (base, _) = struct.unpack("=QQ", memory(tid, parts, 16))
        (_, _, unique) = struct.unpack("=IiQ", memory(tid, base, 16))
        return unique & ~RESENT == self.unique

    def leave(self, tid, result):
        call = self.calls.pop(tid, None)
        if not call or call[0] != READ or result < 40:
            return
        head = struct.unpack("=IIQQIII", memory(tid, call[2], 36))
        if head[1] == FUSE_WRITE and head[6] == self.writer:
            self.unique = head[2] & ~RESENT

    def handle(self, tid, status):
        """Lets a stopped thread go on, but not to that reply."""
        signal_number, event = status >> 8 & 0xFF, status >> 16
        if signal_number == signal.SIGTRAP | 0x80:
            if self.crashes < CRASHES and self.look(tid):
                self.crashes += 1
                os.kill(server_of(KEEPER), signal.SIGABRT)
                return
            signal_number = 0
        elif event != 0:
            signal_number = 0
        traces = tid != KEEPER and self.crashes < CRASHES
        ptrace(SYSCALL if traces else CONT, tid, 0, signal_number)


def write():
    file = os.open(FILE, os.O_WRONLY | os.O_APPEND)
    if not sys.stdin.buffer.read(1):
        os._exit(3)
    try:
        os.write(file, LINE.encode() + b"\n")
    except OSError as error:
        print(errno.errorcode[error.errno], flush=True)
    else:
        print("done", flush=True)
    os._exit(0)


def main():
    ready, go = os.pipe()
    writer = os.fork()
    if writer == 0:
        os.dup2(ready, 0)
        os.close(go)
        write()
    server = server_of(KEEPER)
    unstopped = {KEEPER, *map(int, os.listdir(f"/proc/{server}/task"))}
    for tid in unstopped:
        ptrace(SEIZE, tid, 0, SYSGOOD | FORKS | CLONES)
        ptrace(INTERRUPT, tid)
    crasher = Crasher(writer)
    while True:
        tid, status = os.waitpid(-1, WALL)
        if tid == writer:
            return
        if os.WIFSTOPPED(status):
            crasher.handle(tid, status)
        if tid in unstopped:
            unstopped.discard(tid)
            if not unstopped:  # from now on no call is missed
                os.write(go, b"x")


main()
