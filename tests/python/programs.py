"""Programs that the tests of daemons run as feeders, and the counts that these print."""

WEB = """
web = tally.Interface("web")
each = web.statistic("each", "us/requests")
each.start()
"""
# The longest of so many calls, in seconds.
LONGEST = """
def longest(count):
    found = 0
    for i in range(count):
        begun = time.perf_counter()
        each.inc(i)
        found = max(found, time.perf_counter() - begun)
    return found
"""
# No call waits for a daemon that is not there; but a machine with other things to do may delay any
# of them.
CALL_MAX_S = 2


class Sum:
    """Of statistic_count(), as a program has printed it."""

    def __init__(self, said):
        numbers = map(int, said.split())
        self.added, self.held, self.sent, self.confirmed, self.lost, self.dropped = numbers
