# tallyctl define: what it changes, what it refuses, and what it says of both.

. ./ctl/_mount.sh

define_tells_the_daemon_s_warnings() {
  _status 1 "refused, nothing changed: there is no key 'rnage_min'; did you mean range_min?
  name=hits rnage_min=5 on=1
            ^" "$TALLYCTL" define web/hits rnage_min=5 on=1
  _status 0 '' "$TALLYCTL" define web/hits on=1
  assert_eq '' "$(cat "$CASE/err")"
  _status 0 'warning: without range_min the intervals double from' \
    "$TALLYCTL" define web/hits type=array scale=log2 base_interval=1
  _status 0 '' "$TALLYCTL" define web/hits type=array scale=log2 base_interval=1 range_min=0
  assert_eq '' "$(cat "$CASE/err")"
}

define_says_why_a_line_is_refused() {
  _status 1 "web/us: refused, nothing changed: this type also needs: base_interval
  name=us type=array scale=log2 range_min=0 range_max=4000
          ^
  an example that works: type=array scale=log2 range_min=0 range_max=4000 base_interval=1" \
    "$TALLYCTL" define web/us type=array scale=log2 range_min=0 range_max=4000
  assert_attribute web us range_max 4096
  _status 1 "did you mean web?" "$TALLYCTL" define wbe/us on=0
}

define_s_examples_work() {
  local type example
  for type in value list array quantiles history 'history mode=quantiles' raw; do
    # shellcheck disable=SC2086  # of two words
    _status 1 'an example that works: ' "$TALLYCTL" define web/us type=$type
    example=$(sed -n 's/^  an example that works: //p' "$CASE/err")
    # shellcheck disable=SC2086  # several words
    _status 0 '' "$TALLYCTL" define web/us $example
    assert_attribute web us type "${type%% *}"
  done
}

define_changes_and_names_what_is_lost() {
  assert_match 'web/us: array -> range; 3 requests since ..:..:.. discarded' \
    "$("$TALLYCTL" define web/us type=range)"
  assert_attribute web us type range
  assert_eq '' "$("$TALLYCTL" define web/us on=0)"
  assert_eq '{"lines":[{"interface":"web","line":"name=us on=1","refused":null}]}' \
    "$("$TALLYCTL" define --json web/us on=1)"
  assert_eq 'web/slow: made, a view of us' \
    "$("$TALLYCTL" define web/slow of=us type=value mode=increments range_min=1000)"
  assert_attribute web slow of us
  assert_eq '' "$("$TALLYCTL" define web/slow name=slow on=0)"
  _status 2 'name=quick: that is not web/slow; no statistic gets another name' \
    "$TALLYCTL" define web/slow name=quick
  "$TALLYCTL" define web/hits --like db/us range_max=99 >/dev/null
  assert_attribute web hits type range
  assert_attribute web hits range_max 99
}

the_name_may_have_its_interface() {
  _status 0 '' "$TALLYCTL" define web/us name=web/us on=0
  assert_attribute web us on 0
  _status 0 '' "$TALLYCTL" define web name=web/us on=1
  assert_attribute web us on 1
  _status 2 'name=db/us: that is not web/us' "$TALLYCTL" define web/us name=db/us on=0
  _status 1 'this line is for web: write it to statistics/db/definition, or send: define db/us' \
    "$TALLYCTL" define web name=db/us on=0
  send 'create web/l{q:a%20b} on=1'
  _status 0 '' "$TALLYCTL" define 'web/l{q:"a b"}' 'name=l{q:a%20b}' on=0
}

what_the_socket_refuses_is_tallyctl_s_to_say() {
  _status 1 '' "$TALLYCTL" rm tallyfs
  assert_eq "tallyctl: this interface holds the daemon's own numbers (Device or resource busy)
  remove tallyfs
         ^" "$(cat "$CASE/err")"
  _status 1 "tallyctl: entries_max must be" "$TALLYCTL" create web/x type=list entries_max=0
  _status 0 "tallyctl: warning: it exists with type=value" "$TALLYCTL" create web/hits type=last
  _status 1 "tallyctl: feed must be" "$TALLYCTL" define web feed=nobody
  stop_daemon
  _status 3 'tallyctl: ' "$TALLYCTL" create web/x on=1
}

what_changes_nothing_is_wrong_usage() {
  _status 2 'define web/us needs KEY=VALUE' "$TALLYCTL" define web/us
  _status 2 'define web needs KEY=VALUE' "$TALLYCTL" define web
  _status 0 '' "$TALLYCTL" define web/hits --like db/us
  assert_attribute web hits type range
}

define_says_how_a_missing_one_is_made() {
  _status 1 'it comes into being with: create web/nope type=range on=1' \
    "$TALLYCTL" define web/nope type=range
  _status 1 'it comes into being with: tallyctl create zz/STATISTIC type=range on=1' \
    "$TALLYCTL" define zz type=range
  $(sed -n 's/.* with: tallyctl/eval "$TALLYCTL"/p' "$CASE/err" | sed 's/STATISTIC/us/')
  assert_attribute zz us type range
}

strict_may_be_typed() {
  _status 0 '' "$TALLYCTL" define web/us strict=1 on=0
  assert_attribute web us on 0
  _status 1 'strict must be 1' "$TALLYCTL" define web/us strict=0 on=1
  _status 1 'type=range' "$TALLYCTL" define web/us strict=1 type=range entries_max=5
}

open_ends_are_not_shown() {
  local state=$CASE/state
  XDG_STATE_HOME=$state "$TALLYCTL" since --id x >/dev/null
  define web 'name=hits type=range'
  assert_has_not 922337 "$(XDG_STATE_HOME=$state "$TALLYCTL" since --id x)"
  "$TALLYCTL" definitions web/hits >"$CASE/saved"
  define web 'name=hits range_max=5'
  assert_match '~ web/hits range_max=5->unbounded.*' "$("$TALLYCTL" apply --dry-run "$CASE/saved")"
}
