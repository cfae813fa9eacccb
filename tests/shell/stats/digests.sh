# How far the percentiles of t-digests may be off (docs/stats3.md), as the benchmark tells it.

_set_up() { :; }
_ranks() {  # _ranks OPTION...: leaves what it said and its exit status
  local bench=${TALLY_BIN:+$TALLY_BIN/}stats_bench
  command -v "$bench" >/dev/null || skip 'no benchmarks here'
  status=0
  "$bench" --ranks "$@" >"$CASE/said" 2>"$CASE/complained" || status=$?
}

the_benchmark_fails_beyond_the_bound() {
  local status
  _ranks --at-most 10 20000  # of so few samples, the ends are coarse
  assert_eq 0 $status "$(cat "$CASE/said")"
  assert_eq '' "$(cat "$CASE/complained")"
  assert_eq 25 "$(grep -cE '^[a-z]+ +[a-z-]+( +[0-9]+\.[0-9]{2}){6}$' "$CASE/said")"
  _ranks --at-most 0.001 20000
  assert_eq 1 $status
  assert_eq 'stats_bench: rank errors are above 0.001 %' "$(cat "$CASE/complained")"
  assert_has 'TOO FAR OFF' "$(cat "$CASE/said")"
}
