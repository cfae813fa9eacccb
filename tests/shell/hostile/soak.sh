# Mixed load for a long time costs neither memory nor descriptors, and sums stay exact.
# TALLY_SOAK_SECONDS says how long (15); tests/run long takes an hour.
_alone=timed

an_hour_of_mixed_load_leaves_sums_exact_and_memory_flat() {
  SERVER=$SERVER py <<'EOT'
from soak import soak
soak()
EOT
}
