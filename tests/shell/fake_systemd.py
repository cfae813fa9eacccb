#!/usr/bin/env python3
"""Runs a service as systemd does that has Restart=on-failure, KillMode=mixed and
FileDescriptorStoreMax=.

    fake_systemd.py SAID PROGRAM [ARGUMENT...]

Keeps the descriptors that the service gives (FDSTORE=1) under their names, and passes them to it
when it was killed and is started again. SAID gets a line for each message of its main process:
"PID READY=1", "PID store NAME", "PID remove NAME". When its main process has ended, the others are
killed, and nothing is started before they are gone. Ends as the service ends when that was not
killed; SIGTERM is passed on to it.
"""
import array
import ctypes
import os
import select
import signal
import socket
import struct
import sys

FIRST = 3  # SD_LISTEN_FDS_START
PR_SET_CHILD_SUBREAPER = 36


def start(program, stored):
    """The pid. The descriptors are those that systemd would pass, from FIRST on."""
    child = os.fork()
    if child != 0:
        return child
    high = [os.dup2(fd, 200 + i, inheritable=False) for i, (_, fd) in enumerate(stored)]
    for i, fd in enumerate(high):
        os.dup2(fd, FIRST + i, inheritable=True)
    if stored:
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(stored)),
                          LISTEN_FDNAMES=":".join(name for name, _ in stored))
    os.execvp(program[0], program)


def receive(notify):
    """The sender's pid, the message's variables, and its descriptors; None: there is none."""
    try:
        text, ancillary, *_ = notify.recvmsg(4096, 4096)
    except BlockingIOError:
        return None
    pid, descriptors = 0, array.array("i")
    for _, kind, data in ancillary:
        if kind == socket.SCM_CREDENTIALS:
            pid = struct.unpack("iII", data)[0]
        else:
            descriptors.frombytes(data)
    return pid, [line.partition("=")[::2] for line in text.decode().splitlines()], descriptors


def kill_others():
    """What the main process has left: children of this one, and theirs when those are gone."""
    while True:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            for pid in map(int, file.read().split()):
                os.kill(pid, signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


class Store:
    def __init__(self, said):
        self.said, self.held = said, []

    def take(self, pid, variables, descriptors):
        name = dict(variables).get("FDNAME")
        for key, value in variables:
            if key == "FDSTORE":
                print(pid, "store", name, file=self.said)
                self.held += [(name, fd) for fd in descriptors]
            elif key == "FDSTOREREMOVE":
                print(pid, "remove", name, file=self.said)
                for each in [each for each in self.held if each[0] == name]:
                    os.close(each[1])
                    self.held.remove(each)
            elif key in ("READY", "STOPPING"):
                print(pid, f"{key}={value}", file=self.said)


def main():
    said, program = open(sys.argv[1], "w", buffering=1), sys.argv[2:]
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    notify.setblocking(False)
    notify.bind(sys.argv[1] + ".notify")
    os.environ["NOTIFY_SOCKET"] = sys.argv[1] + ".notify"
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    store = Store(said)
    woken, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = start(program, store.held)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    while True:
        select.select([notify, woken], [], [])
        while message := receive(notify):
            store.take(*message)
        try:
            os.read(woken, 4096)
        except BlockingIOError:
            pass
        done, status = os.waitpid(child, os.WNOHANG)
        if done == 0:
            continue
        kill_others()
        while message := receive(notify):
            store.take(*message)
        if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
            sys.exit(os.waitstatus_to_exitcode(status) & 0xff)
        child = start(program, store.held)


main()
