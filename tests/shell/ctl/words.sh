# Random words in tallyctl's commands that change something: each is refused, and then nothing has
# changed, or the definition says what it says.

. ./ctl/_mount.sh

a_word_is_understood_or_refused() {
  need_python
  TALLYCTL=$(command -v "$TALLYCTL") py <<'EOT'
import os
import random
import subprocess
from peer import PATIENCE

KEYS = ("name of on data type range_min range_max entries_max base_interval scale mode period "
        "precision quantiles units help base undo lifetime default hits decimals view feed").split()
VALUES = ["", "0", "1", "5", "77", "-4", "reset", "us", "hits", "range", "value", "list", "lin",
          "log2", "products", "quantiles", "10,95", "0.1,0.2", "us/requests", "ms", "=", "x", "16"]
LINES = ["define web/us range_min=3", "define web/us type=last", "define web name=us on=0",
         "define web/us type=list entries_max=9", "define web on=1", "create web/new type=range",
         "create web/new type=quantiles precision=3 quantiles=50,99", "on web/us", "off web/us",
         "reset web/us", "undo web/us", "rm web/us"]
# What lines of statistics without units end with; what shows in the data; what is not printed.
SAYS_NOTHING = {"units=", "help=", "data=reset", "decimals=0", "base=16", "name=us"}
STAT = os.environ["STAT"]


def state():
    names = sorted(os.listdir(STAT))
    return str(names) + open(f"{STAT}/web/definition").read() + open(f"{STAT}/web/data").read()


def random_word(chance):
    key = chance.choice(KEYS)
    if chance.random() < 0.3:
        key = key[:len(key) // 2] + "q" + key[len(key) // 2 + 1:]
    return key if chance.random() < 0.2 else f"{key}={chance.choice(VALUES)}"


chance = random.Random(4711)
refused, count = 0, int(100 / PATIENCE)
for i in range(count):
    words = chance.choice(LINES).replace("web/new", f"web/new{i}").split()
    word = random_word(chance)
    words.insert(chance.randrange(2, len(words) + 1), word)
    before = state()
    done = subprocess.run([os.environ["TALLYCTL"], *words], capture_output=True, text=True)
    after = state()
    if done.returncode != 0:
        refused += 1
        assert after == before, (words, done.stderr)
        assert done.stderr.strip(), words
    else:
        assert word in SAYS_NOTHING or word in after.split(), (words, done.stderr, after)
assert count / 3 < refused < count, refused
EOT
}
