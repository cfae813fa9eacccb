#!/usr/bin/env python3
"""Ends servers of a keeper in the middle of one and the same write.

    end_in_write.py KEEPER FILE LINE SIGNAL save|reply TIMES

Traces the keeper and its servers (ptrace). When a server saves what the write of LINE into FILE has
changed, or replies to it, it gets the signal (SIGABRT, ...) instead, and so do the next ones, to
which the kernel sends the write again: as many as TIMES says. Prints how the write ends then:
"done", or the name of its errno. Ends with 3 where it may not trace.
"""
import ctypes
import errno
import os
import signal
import struct
import sys

from keeper import server_of

KEEPER, FILE, LINE = int(sys.argv[1]), sys.argv[2], sys.argv[3]
SIGNAL, AT, TIMES = signal.Signals[sys.argv[4]], sys.argv[5], int(sys.argv[6])
CONT, SYSCALL, SEIZE, INTERRUPT, SYSCALL_INFO = 7, 24, 0x4206, 0x4207, 0x420E
SYSGOOD, FORKS, CLONES = 1, 2, 8
EVENT_STOP = 128
WALL = 0x40000000
READ, WRITEV, PWRITEV = {"x86_64": (0, 20, 296), "aarch64": (63, 66, 70)}[os.uname().machine]
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


class Ender:
    """Sees each system call of the servers."""

    def __init__(self, writer):
        self.writer = writer
        self.unique = None  # of the write
        self.reader = None  # the thread that has read it
        self.ended = 0
        self.calls = {}     # tid: number and arguments of the call that it is in

    def look(self, tid):
        """At a stop on the way into a system call, or out of it. True: it is the one."""
        info = ctypes.create_string_buffer(88)
        if not ptrace(SYSCALL_INFO, tid, len(info), ctypes.addressof(info)):
            return False
        if info.raw[0] == 1:
            self.calls[tid] = struct.unpack_from("=7Q", info.raw, 24)
            is_it = self.is_reply if AT == "reply" else self.is_save
            return is_it(tid, *self.calls[tid][:3])
        if info.raw[0] == 2:
            self.leave(tid, struct.unpack_from("=q", info.raw, 24)[0])
        return False

    def is_reply(self, tid, number, _, parts):
        if number != WRITEV or self.unique is None:
            return False
        (base, _) = struct.unpack("=QQ", memory(tid, parts, 16))
        (_, _, unique) = struct.unpack("=IiQ", memory(tid, base, 16))
        return unique & ~RESENT == self.unique

    def is_save(self, tid, number, *_):
        return number == PWRITEV and tid == self.reader

    def leave(self, tid, result):
        call = self.calls.pop(tid, None)
        if not call or call[0] != READ or result < 40:
            return
        head = struct.unpack("=IIQQIII", memory(tid, call[2], 36))
        if head[1] == FUSE_WRITE and head[6] == self.writer:
            self.unique = head[2] & ~RESENT
            self.reader = tid

    def handle(self, tid, status):
        """Lets a stopped thread go on, but not to that call."""
        signal_number, event = status >> 8 & 0xFF, status >> 16
        if signal_number == signal.SIGTRAP | 0x80:
            if self.ended < TIMES and self.look(tid):
                self.ended += 1
                self.reader = None
                os.kill(server_of(KEEPER), SIGNAL)
                return
            signal_number = 0
        elif event != 0:
            signal_number = 0
        traces = tid != KEEPER and self.ended < TIMES
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
    ender = Ender(writer)
    while True:
        tid, status = os.waitpid(-1, WALL)
        if tid == writer:
            return
        if os.WIFSTOPPED(status):
            ender.handle(tid, status)
        if tid in unstopped:
            unstopped.discard(tid)
            if not unstopped:  # from now on no call is missed
                os.write(go, b"x")


main()
