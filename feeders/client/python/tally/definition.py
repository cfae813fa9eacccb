"""How a program defines its statistics: the words of a definition line, with the bounds of
core/definition/GRAMMAR.md."""
import re

from .checks import check_number, check_word

STATISTIC_RANGE_MIN = -(1 << 63)
STATISTIC_RANGE_MAX = (1 << 63) - 1
STATISTIC_SCALE_LIN = "lin"
STATISTIC_SCALE_LOG2 = "log2"
STATISTIC_MODE_INCREMENTS = "increments"  # the sum of Y
STATISTIC_MODE_PRODUCTS = "products"  # the sum of X * Y
STATISTIC_MODE_RANGE = "range"  # number, smallest, average and largest X; for history only
STATISTIC_MODE_QUANTILES = "quantiles"  # that, and percentiles: see define_quantile_history()

_ENTRIES_MAX = 1048576
_INTERVALS_MAX = 65536
_PERIOD_MAX_US = 3153600000000000
_PRECISION_MAX = 8
_QUANTILES_MAX = 16


class Definable:
    """Says how the daemon shows a statistic until a user decides otherwise.

    A definition applies to a statistic that this process brings into being: at once, or, with a
    daemon that is started later, then. A statistic that was there before stays as its users have
    defined it. The last call stands.

    X from range_min to range_max, signed 64-bit numbers, is of interest. Samples outside count in
    hits_out_of_range only; in an array they count in the first or the last interval, too.
    ValueError: a number is out of its bounds. RuntimeError: the call interrupts tally itself."""

    __slots__ = ()

    def define_value(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX,
                     mode=STATISTIC_MODE_INCREMENTS):  # fmt: skip
        """A counter. mode: increments or products."""
        words = _word("mode", mode, (STATISTIC_MODE_INCREMENTS, STATISTIC_MODE_PRODUCTS))
        self._define("type=value" + words + _range(range_min, range_max))

    def define_range(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX):
        """Number, smallest, average and largest X."""
        self._define("type=range" + _range(range_min, range_max))

    def define_array(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX,
                     base_interval=1, scale=STATISTIC_SCALE_LOG2):  # fmt: skip
        """A histogram from range_min to range_max, of at most 65,536 intervals. base_interval:
        their width, 1 to 2^64-1; with scale log2 each is twice as wide as the one before."""
        text = "type=array" + _number("base_interval", base_interval, 1, (1 << 64) - 1)
        text += _word("scale", scale, (STATISTIC_SCALE_LIN, STATISTIC_SCALE_LOG2))
        text += _range(range_min, range_max)
        inner = -((range_min - range_max) // base_interval)  # rounded up
        if scale == STATISTIC_SCALE_LIN and inner > _INTERVALS_MAX - 2:
            raise ValueError(f"more than {_INTERVALS_MAX} intervals")
        self._define(text)

    def define_list(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX,
                    entries_max=256):  # fmt: skip
        """The sum of Y for each X, for the first entries_max (1 to 1,048,576) different X."""
        text = "type=list" + _number("entries_max", entries_max, 1, _ENTRIES_MAX)
        self._define(text + _range(range_min, range_max))

    def define_raw(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX,
                   entries_max=256):  # fmt: skip
        """The newest entries_max (1 to 1,048,576) samples with their times."""
        text = "type=raw" + _number("entries_max", entries_max, 1, _ENTRIES_MAX)
        self._define(text + _range(range_min, range_max))

    def define_history(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX,
                       entries_max=60, period_us=1_000_000,
                       mode=STATISTIC_MODE_INCREMENTS):  # fmt: skip
        """One entry for each period of period_us (1 us to 100 years of 365 days), the newest
        entries_max (1 to 1,048,576) of them. mode: increments, products or range."""
        modes = (STATISTIC_MODE_INCREMENTS, STATISTIC_MODE_PRODUCTS, STATISTIC_MODE_RANGE)
        text = "type=history" + _word("mode", mode, modes)
        text += _number("period", period_us, 1, _PERIOD_MAX_US)
        text += _number("entries_max", entries_max, 1, _ENTRIES_MAX)
        self._define(text + _range(range_min, range_max))

    def define_quantiles(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX,
                         precision=5, quantiles="50,90,99,99.9"):  # fmt: skip
        """Percentiles of X, from buckets whose ends differ by the factor 2^(2^-precision).
        precision: 0 to 8; 5 is 2.2 %. quantiles: 1 to 16 ascending numbers in (0, 100) with at most
        4 decimals, divided by commas, without blanks. Units of the statistic name the unit in which
        buckets end at powers: those of "microseconds/requests" in seconds."""
        text = "type=quantiles" + _quantiles(precision, quantiles)
        self._define(text + _range(range_min, range_max))

    def define_quantile_history(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX,
                                entries_max=300, period_us=1_000_000, precision=5,
                                quantiles="50,90,99,99.9"):  # fmt: skip
        """A history whose entries have percentiles, too. As define_history(), with what
        define_quantiles() needs."""
        text = "type=history mode=quantiles" + _number("period", period_us, 1, _PERIOD_MAX_US)
        text += _number("entries_max", entries_max, 1, _ENTRIES_MAX)
        self._define(text + _quantiles(precision, quantiles) + _range(range_min, range_max))

    def define_last(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX):
        """X of the newest sample: a gauge. Y is ignored."""
        self._define("type=last" + _range(range_min, range_max))

    def _define(self, text):
        raise NotImplementedError


def _word(name, value, words):
    return f" {name}={check_word(name, value, words)}"


def _number(name, value, least, most):
    return f" {name}={check_number(name, value, least, most)}"


def _range(least, most):
    text = _number("range_min", least, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX)
    text += _number("range_max", most, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX)
    if least > most:
        raise ValueError(f"range_min {least} is above range_max {most}")
    return text


def _quantiles(precision, quantiles):
    text = _number("precision", precision, 0, _PRECISION_MAX)
    words = quantiles.split(",") if isinstance(quantiles, str) else []
    numbers = [float(word) for word in words if re.fullmatch(r"[0-9]{1,2}(\.[0-9]{1,4})?", word)]
    ascends = all(a < b for a, b in zip([0, *numbers], numbers))
    if not 1 <= len(words) <= _QUANTILES_MAX or len(numbers) != len(words) or not ascends:
        raise ValueError(f"quantiles must be 1 to {_QUANTILES_MAX} ascending numbers between 0 and "
                         f"100, divided by commas, not {quantiles!r}")  # fmt: skip
    return f"{text} quantiles={quantiles}"
