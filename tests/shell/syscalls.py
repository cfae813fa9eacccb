"""A hostile user: system calls on the mount with random arguments, from several processes at once.

Each process draws from its own seed and goes on for SECONDS. Ends with 0 if every call came back in time,
with an errno that a file system may give; with TALLY_STRANGER=yes only if nothing but directories was opened.
"""
import ctypes
import errno
import fcntl
import mmap
import os
import select
import signal
import socket
import stat
import sys
import time

from hostile import PATIENCE, SECONDS, SEED, random

WORKERS = 4
LONGEST = 5 if PATIENCE <= 1 else 60  # seconds; a call that takes longer hangs
MNT = os.environ["MNT"]
# A user that may open no file here.
STRANGER = os.environ.get("TALLY_STRANGER") == "yes"
LIBC = ctypes.CDLL(None, use_errno=True)
# What a file system must not say of what it could have refused, or got wrong.
NEVER = {errno.ENOSYS, errno.EIO, errno.EFAULT, errno.EBADMSG, errno.ENOTCONN, errno.ECONNABORTED, errno.EREMOTEIO}


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


class Worker:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.fds = []
        self.calls = {}
        self.longest = (0, "")
        self.outside = os.open(os.environ["CASE"], os.O_TMPFILE | os.O_RDWR)
        os.write(self.outside, b"name=a on=1\n" * 10)
        self.feeder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.feeder.connect(os.environ["SOCK"])
        self.feeder.setblocking(False)

    # ---- what is drawn

    def number(self):
        rng = self.rng
        return rng.choice([0, 1, 2, 3, 7, 511, 4095, 4096, 4097, 65535, 65536, 131071, (1 << 31) - 1, 1 << 31,
                           (1 << 63) - 1, rng.getrandbits(62), rng.getrandbits(16), rng.getrandbits(8)])

    def signed(self):
        return self.number() - (1 << 63 if self.rng.randrange(5) == 0 else 0)

    def path(self):
        rng = self.rng
        directory = rng.choice(["", "/statistics", "/statistics/web", "/statistics/db", "/statistics/tallyfs", "/tracing",
                                "/statistics/web/..", "/statistics/no"])
        name = rng.choice(["", "/data", "/data", "/data", "/definition", "/definition", "/definition", "/error_log", "/web",
                           "/db", "/tallyfs", "/new", "/.", "/tracing/..", "/" + "x" * rng.randrange(250, 260), "/data/x", "/\xff\n"])
        return MNT + directory + name

    def fd(self):
        return self.rng.choice(self.fds) if self.fds else self.outside

    def text(self):
        rng = self.rng
        part = rng.choice([b"name=a on=1\n", b"on=0", b"name=a type=list entries_max=5\n", b"name=b data=reset\nname=",
                           b"type=history entries_max=9 mode=range period=7\n", b"x", b"\n", rng.randbytes(50),
                           b"name=a type=raw entries_max=1000 on=1\n"])
        return (part * rng.choice([1, 1, 1, 2, 3000, 20000]))[:rng.choice([1, 5, 100, 4096, 70000, 300000])]

    # ---- the calls; each may raise OSError

    def do_open(self):
        rng, flags = self.rng, self.rng.choice([os.O_RDONLY, os.O_RDONLY, os.O_WRONLY, os.O_RDWR])
        for flag in (os.O_TRUNC, os.O_APPEND, os.O_CREAT, os.O_EXCL, os.O_DIRECT, os.O_NONBLOCK, os.O_SYNC, os.O_NOFOLLOW,
                     os.O_DIRECTORY, os.O_PATH, os.O_TMPFILE, os.O_NOATIME):
            if rng.randrange(25) == 0: flags |= flag
        path = self.path()
        self.fds.append(os.open(path, flags, rng.getrandbits(9)))
        if STRANGER and not flags & os.O_PATH: assert stat.S_ISDIR(os.fstat(self.fds[-1]).st_mode), f"{path} was opened"

    def do_close(self):
        if not self.fds: return
        os.close(self.fds.pop(self.rng.randrange(len(self.fds))))

    def do_dup(self): self.fds.append(os.dup(self.fd()))
    def do_read(self): os.read(self.fd(), self.number() % 300_000)
    def do_pread(self): os.pread(self.fd(), self.number() % 300_000, self.signed() % (1 << 63))
    def do_readv(self): os.readv(self.fd(), [bytearray(self.number() % 70_000), bytearray(1), bytearray(4097)])
    def do_write(self): os.write(self.fd(), self.text())
    def do_pwrite(self): os.pwrite(self.fd(), self.text(), self.signed() % (1 << 63))
    def do_writev(self): os.writev(self.fd(), [self.text(), b"", self.text()])
    def do_lseek(self): os.lseek(self.fd(), self.signed() % (1 << 63), self.rng.randrange(5))
    def do_stat(self): os.stat(self.path())
    def do_lstat(self): os.lstat(self.path())
    def do_fstat(self): os.fstat(self.fd())
    def do_statvfs(self): os.statvfs(self.path())
    def do_access(self): os.access(self.path(), self.rng.randrange(8))
    def do_chmod(self): os.chmod(self.path(), self.rng.getrandbits(12))
    def do_fchmod(self): os.fchmod(self.fd(), self.rng.getrandbits(12))
    def do_chown(self): os.chown(self.path(), self.rng.choice([-1, 0, 1000]), self.rng.choice([-1, 0, 1000]))
    def do_utime(self): os.utime(self.path(), self.rng.choice([None, (self.number() % (1 << 33), 5)]))
    def do_truncate(self): os.truncate(self.path(), self.rng.choice([0, 0, self.number()]))
    def do_ftruncate(self): os.ftruncate(self.fd(), self.rng.choice([0, 0, self.number()]))
    def do_mkdir(self): os.mkdir(self.path())
    def do_rmdir(self): os.rmdir(self.path())
    def do_unlink(self): os.unlink(self.path())
    def do_rename(self): os.rename(self.path(), self.path())
    def do_renameat2(self):
        checked(LIBC.renameat2(-100, os.fsencode(self.path()), -100, os.fsencode(self.path()), self.rng.randrange(8)))
    def do_link(self): os.link(self.path(), self.path())
    def do_symlink(self): os.symlink(self.path(), self.path())
    def do_readlink(self): os.readlink(self.path())
    def do_mknod(self): os.mknod(self.path(), 0o600 | self.rng.choice([stat.S_IFREG, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK]))
    def do_listdir(self): os.listdir(self.path())
    def do_getdents(self):
        fd = os.open(self.path(), os.O_RDONLY | os.O_DIRECTORY)
        try:
            buffer = ctypes.create_string_buffer(4096)
            for _ in range(3):
                os.lseek(fd, self.number() % (1 << 62), 0)
                checked(LIBC.syscall(217, fd, buffer, self.rng.choice([24, 100, 4096])))
        finally:
            os.close(fd)
    def do_getxattr(self): os.getxattr(self.path(), self.rng.choice(["user.x", "security.selinux", "system.posix_acl_access"]))
    def do_setxattr(self): os.setxattr(self.path(), "user.x", self.text()[:1000])
    def do_listxattr(self): os.listxattr(self.path())
    def do_removexattr(self): os.removexattr(self.path(), "user.x")
    def do_ioctl(self): fcntl.ioctl(self.fd(), self.rng.getrandbits(32) & 0xffff, bytes(64))
    def do_flock(self): fcntl.flock(self.fd(), self.rng.choice([fcntl.LOCK_SH, fcntl.LOCK_EX, fcntl.LOCK_UN]) | fcntl.LOCK_NB)
    def do_lockf(self):
        fcntl.lockf(self.fd(), self.rng.choice([fcntl.LOCK_SH, fcntl.LOCK_EX]) | fcntl.LOCK_NB, self.number() % 1000, self.number() % 1000)
    def do_fcntl(self): fcntl.fcntl(self.fd(), fcntl.F_SETFL, self.rng.choice([0, os.O_APPEND, os.O_NONBLOCK, os.O_DIRECT]))
    def do_fallocate(self): os.posix_fallocate(self.fd(), self.number() % 10_000, 1 + self.number() % 10_000)
    def do_fadvise(self): os.posix_fadvise(self.fd(), 0, 0, self.rng.randrange(6))
    def do_fsync(self): os.fsync(self.fd())
    def do_fdatasync(self): os.fdatasync(self.fd())
    def do_poll(self):
        poll = select.poll()
        poll.register(self.fd(), self.rng.getrandbits(6))
        poll.poll(0)
    def do_mmap(self):
        fd = self.fd()
        size = os.fstat(fd).st_size
        if size == 0: return
        kind = self.rng.choice([mmap.MAP_SHARED, mmap.MAP_PRIVATE])
        with mmap.mmap(fd, size, kind, self.rng.choice([mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE])):
            pass  # unread: what has shrunk since is SIGBUS, as anywhere
    def do_sendfile(self):
        if self.rng.randrange(2): os.sendfile(self.outside, self.fd(), None, self.number() % 100_000)
        else: os.sendfile(self.fd(), self.outside, 0, 100)
        os.ftruncate(self.outside, 120)
        os.lseek(self.outside, 0, 0)
    def do_copy_file_range(self): os.copy_file_range(self.fd(), self.fd(), 1 + self.number() % 10_000, 0, self.number() % 100)
    def do_splice(self):
        out, into = os.pipe()
        try: checked(LIBC.splice(self.fd(), None, into, None, ctypes.c_size_t(4096), 2))
        finally:
            os.close(out)
            os.close(into)
    def do_inotify(self):
        fd = checked(LIBC.inotify_init1(os.O_NONBLOCK))
        try: checked(LIBC.inotify_add_watch(fd, os.fsencode(self.path()), 0xfff))
        finally: os.close(fd)
    def do_handle(self):
        handle, mount = (ctypes.c_uint * 34)(128), ctypes.c_int()
        checked(LIBC.name_to_handle_at(-100, os.fsencode(self.path()), handle, ctypes.byref(mount), 0))
        self.fds.append(checked(LIBC.open_by_handle_at(self.fd(), handle, os.O_RDONLY)))
    def do_chdir(self):
        os.chdir(self.path())
        os.chdir("/")
    def do_feed(self):
        self.feeder.send(self.rng.choice([b"web/a 5\ndb/b 7\n", b"remove db\n", b"create web/b type=range on=1\n", self.text()[:9000]]))

    # ---- and what becomes of them

    @staticmethod
    def close(fd):
        try:
            os.close(fd)
        except OSError as error:  # a last line without newline was wrong, or its interface is gone
            assert error.errno not in NEVER, error

    def call(self):
        name = self.rng.choice(CALLS)
        start, code = time.monotonic(), 0
        signal.setitimer(signal.ITIMER_REAL, 4 * LONGEST)  # ends one that hangs, if anything does
        try:
            getattr(self, name)()
        except OSError as error:
            code = error.errno
            assert code not in NEVER, f"{name}: {error}"
        except (ValueError, OverflowError):
            pass  # refused by Python itself
        self.longest = max(self.longest, (time.monotonic() - start, name))
        self.calls[name, errno.errorcode.get(code, "OK")] = self.calls.get((name, errno.errorcode.get(code, "OK")), 0) + 1
        if len(self.fds) > 40: self.close(self.fds.pop(0))

    def run(self):
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline: self.call()
        for fd in self.fds: self.close(fd)
        print(f"{sum(self.calls.values())} calls, longest {self.longest[0] * 1e3:.1f} ms ({self.longest[1]}); ok: "
              + ", ".join(f"{name[3:]} {n}" for (name, code), n in sorted(self.calls.items()) if code == "OK"), flush=True)
        assert self.longest[0] < LONGEST, self.longest


# Most others need something open.
CALLS = sorted(name for name in dir(Worker) if name.startswith("do_")) + ["do_open"] * 6 + ["do_write", "do_pwrite"]


def main():
    workers = []
    for i in range(WORKERS):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                Worker(SEED + i).run()
                status = 0
            except BaseException:
                import traceback
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(status)
        workers.append(pid)
    # All of them, so that none is left behind.
    ends = [os.waitpid(pid, 0)[1] for pid in workers]
    assert not any(ends), [os.waitstatus_to_exitcode(end) for end in ends]


main()
