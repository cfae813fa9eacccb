"""tally-probe as tests in Python use it: a program on libtally that does what it is told."""
import os
import re
import subprocess


class Probe:
    def __init__(self, program, socket):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, "TALLY_SOCKET": socket}, text=True)

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def ok(self, line):
        said = self.tell(line)
        assert said == "ok", (line, said)

    def counts(self):
        return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", self.tell("counts"))}

    def end(self):
        self.process.stdin.write("end\n")
        self.process.stdin.close()
        assert self.process.wait() == 0
