# shellcheck shell=bash
# Which way samples of the probe go. Sourced by files beside this one, behind _probe.sh.
_own() { data tallyfs | awk -v name="$1" '$1 == name { print $NF }'; }
_in_cells() {
  local before
  before=$(_own samples)
  tell "inc $1 1"
  ok 'sync 5000'
  [ "$(_own samples)" = "$before" ]
}
# _into_cells NAME...: from now on its samples go into cells. They are reset.
_into_cells() {
  local each
  for each; do
    wait_until "_in_cells $each"
    ok "reset $each" 'sync 5000'
    wait_until "_in_cells $each"
    define web "name=$each data=reset"
  done
}
