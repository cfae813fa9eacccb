"""What the tests of tally-feed-log write into logs, and what that adds up to.

log_writer.py lines N SEED        N random lines of nginx, on the standard output
log_writer.py write FILE N RATE HOW [DATA]
    writes N lines `took N ms` at RATE a second, and rotates FILE after each 1,000. HOW is create
    (renamed, and made again, while the old one is written on for a moment), truncate (cut to 0
    when the feeder has counted all lines so far, as its file DATA of the mount says), copytruncate
    (copied, and cut to 0 at any time), copywrite (copied, written on, and cut when all is counted),
    or none.
    Prints how many lines there were, the sum of their numbers, and how many rotations.
log_writer.py kill FILE N RATE HOW KILLS DATA COMMAND...
    the same with a number of its own in each line, from 0, while the feeder COMMAND is killed and
    started again. Prints how many lines there were, how many the feeders said may
    count twice, and how many starts said that it is one line at most.
log_writer.py twice N
    reads the list of numbers that a feeder made. Prints how many of the lines from 0 to N - 1 it
    has not counted, and how many times it has counted one more than once.
"""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

ROUTES = ["/", "/cart", "/cart/%d", "/api/items/%d?x=1", "/login", "/img/logo.png"]


def line(draw, number):
    route = draw.choice(ROUTES)
    if "%d" in route:
        route %= draw.randrange(100000)
    return (f'203.0.113.{draw.randrange(256)} - - [26/Nov/2026:14:30:{number % 60:02} +0000] '
            f'"GET {route} HTTP/1.1" {draw.choice([200, 200, 200, 304, 404, 500])} '
            f'{draw.randrange(100000)} "-" "curl/7.88.1" {draw.randrange(3000) / 1000:.3f}\n')


def lines(count, seed):
    draw = random.Random(seed)
    sys.stdout.write("".join(line(draw, number) for number in range(count)))


class Log:
    """A log that its writer rotates, as logrotate has it."""

    def __init__(self, path, how, data, is_unique=False):
        self.path, self.how, self.data = path, how, data
        self.rotations = self.lines = self.total = 0
        self.file = open(path, "a", buffering=1)
        self.counted_before = own_number(data, "lines") if data else 0
        self.is_unique = is_unique

    def write(self, number):
        if self.is_unique:
            number = self.lines
        self.file.write(f"took {number} ms\n")
        self.lines += 1
        self.total += number

    def rotate(self):
        self.rotations += 1
        if self.how == "create":
            os.rename(self.path, f"{self.path}.{self.rotations}")
            self.write(1)
            self.file.close()
            self.file = open(self.path, "a", buffering=1)
        elif self.how in ("truncate", "copywrite"):
            if self.how == "copywrite":
                shutil.copyfile(self.path, f"{self.path}.{self.rotations}")
                self.write(1)
            wait_for(lambda: own_number(self.data, "lines") - self.counted_before >=
                     self.lines)
            os.truncate(self.path, 0)
        elif self.how == "copytruncate":
            shutil.copyfile(self.path, f"{self.path}.{self.rotations}")
            os.truncate(self.path, 0)

    def write_all(self, count, rate):
        begun = time.monotonic()
        for number in range(count):
            self.write(number % 997)
            if number % 1000 == 999:
                self.rotate()
            ahead = begun + number / rate - time.monotonic()
            if number % 100 == 0 and ahead > 0:
                time.sleep(ahead)


def own_number(data, name):
    try:
        with open(data) as file:
            return next((int(line.split()[-1]) for line in file if line.startswith(name + " ")), 0)
    except FileNotFoundError:
        return 0


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition():
        if time.monotonic() > deadline:
            sys.exit("waited in vain")
        time.sleep(0.005)


class Feeder:
    """The feeder, which is killed. What it says goes to a file."""

    def __init__(self, command, said):
        self.command, self.said = command, said
        self.process = None

    def start(self):
        with open(self.said, "a") as said:
            self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=said)
        self.process.stdout.readline()

    def end(self, with_signal):
        self.process.send_signal(with_signal)
        self.process.wait()

    def read_rest(self):
        with open(self.said, "a") as said:
            subprocess.run([*self.command, "--once"], stdout=subprocess.DEVNULL, stderr=said,
                           check=True)

    def may_count_twice(self):
        with open(self.said) as file:
            said = file.read()
        exact = said.count("continues exactly")
        more = [int(each) for each in re.findall(r"up to (\d+) lines", said)]
        return exact + len(more) + sum(more), exact


def kill(path, count, rate, how, kills, data, command):
    log = Log(path, how, None, is_unique=True)
    feeder = Feeder(command, path + ".said")
    feeder.start()
    writer = threading.Thread(target=log.write_all, args=(count, rate))
    writer.start()
    draw = random.Random(int(os.environ.get("TALLY_SEED", "1")))
    for _ in range(kills):
        before = own_number(data, "lines")
        # Until it counts; then at any moment.
        wait_for(lambda: own_number(data, "lines") > before or not writer.is_alive())
        time.sleep(draw.random() * 0.05)
        feeder.end(signal.SIGKILL)
        feeder.start()
    writer.join()
    feeder.end(signal.SIGTERM)
    feeder.read_rest()
    print(log.lines, *feeder.may_count_twice())


def twice(count):
    counted = {}
    for line in sys.stdin:
        words = line.split()
        if words[0] == "ms" and words[1].isdigit():
            counted[int(words[1])] = int(words[2])
    lost = sum(number not in counted for number in range(count))
    print(lost, sum(counted.values()) + lost - count)


def main(command, *rest):
    if command == "lines":
        lines(int(rest[0]), int(rest[1]))
    elif command == "write":
        log = Log(rest[0], rest[3], rest[4] if len(rest) > 4 else None)
        log.write_all(int(rest[1]), float(rest[2]))
        print(log.lines, log.total, log.rotations)
    elif command == "twice":
        twice(int(rest[0]))
    else:
        kill(rest[0], int(rest[1]), float(rest[2]), rest[3], int(rest[4]), rest[5], rest[6:])


if __name__ == "__main__":
    main(*sys.argv[1:])
