# tallyctl on a real mount: what it changes, records and compares, and its exit statuses.

. ./ctl/_mount.sh

shows_what_the_mount_has() {
  assert_eq "db
tallyfs
web" "$("$TALLYCTL" ls --names | sort)"
  assert_eq "web/us
web/hits" "$("$TALLYCTL" ls --names web)"
  assert_has 'p50 91us (65-128)' "$("$TALLYCTL" show web/us)"
  assert_has '1 above 4.09ms' "$("$TALLYCTL" show "$STAT/web/us")"
  assert_has 'web/us' "$(cd "$STAT" && "$TALLYCTL" show statistics/web)"
  need jq
  "$TALLYCTL" show --json | jq -e '.interfaces | length == 3' >/dev/null
  "$TALLYCTL" ls --json | jq -e '.interfaces | length == 3' >/dev/null
}

_shows_a_rate() {
  jq -es 'map(.interfaces[0].statistics[0].view.rate) | max > 0' "$CASE/shown" >/dev/null 2>&1
}
intervals_have_rates() {
  need jq
  "$TALLYCTL" show --json --every 100ms --count 3 web/hits >"$CASE/shown"
  assert_eq 3 "$(wc -l <"$CASE/shown")"
  "$TALLYCTL" show --json --every 100ms web/hits >"$CASE/shown" &
  local shown=$!
  wait_until 'send "web/hits 1"; _shows_a_rate'
  kill $shown
  wait $shown || true
}

latency_histograms_and_texts_of_the_tree() {
  send 'latency my_section ns=25999 cpu=0' 'latency my_section ns=3000 cpu=0'
  "$TALLYCTL" show tracing/latency_hist/my_section >"$CASE/out"
  [ -s "$CASE/out" ]
  _status 1 'No such file' "$TALLYCTL" show tracing/nothing
  send 'garbage'
  assert_has 'garbage' "$("$TALLYCTL" show tracing/error_log)"
}

latency_histograms_are_drawn() {
  send 'latency my_section ns=25999 cpu=0' 'latency my_section ns=3000 cpu=0'
  local path=tracing/latency_hist/my_section
  assert_match '.*16us - 32us \| ?#+ 1.*' "$("$TALLYCTL" plot --ascii $path | tr '\n' ' ')"
  assert_has '16us - 32us' "$("$TALLYCTL" plot --ascii "$MNT/$path")"
  : >"$CASE/feeds"
  while [ -e "$CASE/feeds" ]; do send 'latency my_section ns=25999 cpu=0' || true; done &
  local feeder=$!
  "$TALLYCTL" heat --ascii --every 500ms $path >"$CASE/out" &
  local heat=$! row='^[0-9:.]+  \|[^|]*[^ |][^|]*\| +[0-9.]+k? +[0-9]+us +[0-9]+us$'
  wait_until 'grep -qE "$row" "$CASE/out"'
  kill $heat
  wait $heat || true
  rm "$CASE/feeds"
  wait $feeder
  _status 1 'tracing/nothing has no data.json' "$TALLYCTL" plot tracing/nothing
}

a_directory_is_listed() {
  assert_match '(.* )?tracing/latency_hist/wakeup .*' \
    "$("$TALLYCTL" show tracing/latency_hist | tr '\n' ' ')"
  local directory
  for directory in tracing tracing/latency_hist tracing/events stats; do
    "$TALLYCTL" ls $directory >"$CASE/listed"
    assert_eq "$(cd "$MNT" && ls -d $directory/* | grep -v '\.json$' | LC_ALL=C sort)" \
      "$(LC_ALL=C sort "$CASE/listed")" "what ls has of $directory"
    assert_eq "$(cat "$CASE/listed")" "$("$TALLYCTL" show $directory)"
  done
  assert_eq tracing/error_log "$("$TALLYCTL" ls tracing/error_log)"
  _status 1 'No such file' "$TALLYCTL" ls tracing/nothing
  # An interface of that name is meant.
  send 'create stats/us type=range on=1'
  assert_match 'STATISTIC .* stats/us .*' "$("$TALLYCTL" ls stats | tr '\n' ' ')"
  assert_has 'stats/us' "$("$TALLYCTL" show stats)"
}

rights_are_listed() {
  send 'define db feed=owner'
  local uid
  uid=$(id -u)
  assert_match "db .* $uid owner" "$("$TALLYCTL" ls -l | sed -n 's/  */ /g; /^db /p')"
  assert_match "db/us .* $uid owner" "$("$TALLYCTL" ls -l db | sed -n 's/  */ /g; /^db/p')"
  assert_match "web/us .* $uid any" "$("$TALLYCTL" ls -l 'web*' | sed -n 's/  */ /g; /^web.us/p')"
  assert_has_not FEED "$("$TALLYCTL" ls db)"
  assert_eq "feed uid $uid owner" "$("$TALLYCTL" ls -l --csv db | tr -d '\r' |
    awk -F, 'NR == 1 { printf "%s %s ", $NF, $(NF-1) } NR == 2 { print $(NF-1), $NF }')"
  assert_eq "$uid any" "$("$TALLYCTL" ls -l --tsv --no-header web/us |
    awk '{ print $(NF-1), $NF }')"
  assert_eq "$uid \"any\"" "$("$TALLYCTL" ls -l --json --sort name web/us |
    jq -r '.rows[0] | "\(.uid) \(.feed | tojson)"')"
  assert_has_not uid "$("$TALLYCTL" ls --csv db)"
}

several_are_drawn_one_after_the_other() {
  send 'create web/slow type=array scale=log2 base_interval=1 range_min=0 range_max=4096 on=1' \
    'web/slow 3000'
  "$TALLYCTL" plot --ascii web db >"$CASE/out"
  assert_eq 'web/us web/slow' "$(sed -n 's/^\([^ ]*\/[^ ]*\) .*/\1/p' "$CASE/out" | paste -sd' ')"
  "$TALLYCTL" heat --ascii --every 100ms --count 2 'web/*' >"$CASE/out"
  # Two lines each, and one for intervals that a busy machine missed.
  assert_eq 'web/us web/slow' "$(awk '/^web/ { name = $1 } /^[0-9:.]+  \|/ && ++lines[name] == 2 {
    print name }' "$CASE/out" | paste -sd' ')"
  _status 2 'heat needs an array or quantiles' "$TALLYCTL" heat web/hits db/us
  _status 2 'keeps no past' "$TALLYCTL" plot web/hits db/us
}

a_pattern_in_either_half_gives_rows() {
  assert_eq 'STATISTIC db/us web/us' \
    "$("$TALLYCTL" show '[dw]*/us' | cut -d' ' -f1 | LC_ALL=C sort | paste -sd' ')"
  assert_has 'db/us  range' "$("$TALLYCTL" show 'd*/us' | head -n 1)"
  assert_has 'web/us  array' "$("$TALLYCTL" show web/us | head -n 1)"
}

apply_marks_what_was_done_and_says_what_makes_the_rest() {
  printf 'define web name=%s\n' 'v of=us type=list' 'us mode=products type=value' 'us range_max=5' \
    'hits mode=range' >"$CASE/saved"
  _status 1 'this type also needs: entries_max' "$TALLYCTL" apply "$CASE/saved"
  assert_has "$CASE/saved, line 4: refused, nothing changed: mode=range is for" "$(cat "$CASE/err")"
  assert_eq '~ web/us ~ web/us' "$(cut -d' ' -f1,2 "$CASE/out" | paste -sd' ')"
  _status 1 'no statistic of that name here; it comes into being with: create web/gone on=0' \
    "$TALLYCTL" define web/gone on=0
  # Only a saved line may have fractions.
  local line='name=us type=quantiles precision=5 quantiles=0.5,0.99'
  echo "$line" >"$STAT/web/definition"
  "$TALLYCTL" definitions web/us >"$CASE/saved"
  "$TALLYCTL" define web/us type=range >/dev/null
  _status 1 'quantiles are percentages: 50,99' "$TALLYCTL" define web/us ${line#* }
  "$TALLYCTL" apply "$CASE/saved" >/dev/null 2>"$CASE/err"
  assert_has 'warning: quantiles are percentages' "$(cat "$CASE/err")"
  assert_attribute web us quantiles 0.5,0.99
  "$TALLYCTL" rm web/us
  "$TALLYCTL" apply --create "$CASE/saved" 2>/dev/null
  assert_attribute web us quantiles 0.5,0.99
}

switches_and_resets() {
  "$TALLYCTL" off web
  assert_attribute web us on 0
  assert_attribute web hits on 0
  "$TALLYCTL" on 'w*/h*'
  assert_attribute web us on 0
  assert_attribute web hits on 1
  "$TALLYCTL" reset web/hits
  assert_has 'hits 0' "$(data web)"
  _status 1 "nothing is called 'nowhere'; tallyctl ls lists what is there, and '*/nowhere' is" \
    "$TALLYCTL" reset nowhere
}

show_says_what_a_statistic_is() {
  send 'create web/queue on=1 type=range help=Time%20in%20the%20queue,%20100%25%0a'
  assert_eq 'Time in the queue, 100%%0a' "$("$TALLYCTL" show web/queue | sed -n 2p)"
}

definitions_have_units_and_help() {
  send 'create web/new on=1 units=requests help=Of%20all'
  "$TALLYCTL" definitions web/new >"$CASE/saved"
  define web 'name=new units=pages'
  assert_eq '~ web/new units=pages->requests' "$("$TALLYCTL" apply "$CASE/saved")"
  assert_attribute web new units requests
  send 'remove web/new'
  assert_eq '+ web/new' "$("$TALLYCTL" apply --create "$CASE/saved")"
  assert_attribute web new units requests
  assert_attribute web new help Of%20all
}

apply_takes_labels_as_they_are_typed() {
  printf '%s\n' 'define web name=us{route:/cart,code:200} type=range on=1' \
    'define web name=v{a:/} of=us{route:/cart,code:200} type=last' >"$CASE/saved"
  assert_eq "$(printf '+ web/us{route:/cart,code:200}\n+ web/v{a:/}')" \
    "$("$TALLYCTL" apply --create "$CASE/saved")"
  assert_eq "$(printf '= web/us{route:/cart,code:200}\n= web/v{a:/}')" \
    "$("$TALLYCTL" apply "$CASE/saved")"
}

definitions_have_the_base_of_lists() {
  send 'create web/ten type=list entries_max=9' 'create web/hex type=list entries_max=9 base=16'
  "$TALLYCTL" definitions web/ten web/hex >"$CASE/saved"
  assert_eq "$(printf '= web/ten\n= web/hex')" "$("$TALLYCTL" apply "$CASE/saved")"
  "$TALLYCTL" define web/ten base=16
  "$TALLYCTL" define web/hex base=10
  assert_eq "$(printf '~ web/ten base=16->10\n~ web/hex base=10->16')" \
    "$("$TALLYCTL" apply "$CASE/saved")"
  send 'remove web/ten' 'remove web/hex'
  assert_eq "$(printf '+ web/ten\n+ web/hex')" "$("$TALLYCTL" apply --create "$CASE/saved")"
  assert_attribute web ten base 10
  assert_attribute web hex base ''
}

_sums() { "$TALLYCTL" show "$@" | sed 's/  */ /g'; }

sums_over_a_label() {
  local each
  for each in route:%2Fcart,code:200 route:%2Fcart,code:404 route:%2F,code:200; do
    send "create shop/us{$each} on=1 type=range units=microseconds/n" "shop/us{$each} 5"
  done
  send "shop/us{route:%2F,code:200} 9" 'create shop/hits{route:%2F} on=1' 'shop/hits{route:%2F} 1'
  assert_has 'shop/us{route:/cart} range on 2 min 5us avg 5us max 5us' \
    "$(_sums --by route shop/us)"
  assert_has 'shop/us{route:/} range on 2 min 5us avg 7us max 9us' "$(_sums --by route shop/us)"
  assert_has_not hits "$(_sums --by route shop/us)"
  assert_has 'shop/us{code:200} range on 3 min 5us avg 6.33us max 9us' \
    "$(_sums --by code shop/us)"
  assert_has 'shop/hits{route:/} value on 1 1' "$(_sums --by route shop)"
  send 'create shop/us{route:x} on=1 type=last'
  assert_has '1 statistics do not add up, and are left out' "$(_sums --by route shop/us)"
  _status 1 "there is no label 'rout'; the labels are" "$TALLYCTL" show --by rout shop/us
  _status 2 '--by goes with neither' "$TALLYCTL" show --json --by route shop/us
}

# The two moments are a minute apart, however long the machine took for them.
a_sum_that_lost_a_part_is_not_known_in_between() {
  need jq
  local moments=$CASE/sums.jsonl name='shop/n{route:a,code' with='on=1 mode=products'
  local data=$MNT/statistics/shop/data.json
  send "create $name:200} $with" "create $name:500} $with" "$name:200} 5" "$name:500} 100"
  wait_until "grep -q '\"total\":100' '$data'"
  jq -c '{tallyctl: "0", every_us: 1000000} + .' "$MNT/statistics.json" >"$moments"
  jq -c . "$data" >>"$moments"
  send "remove $name:200}" "$name:500} 95"
  wait_until "grep -q '\"total\":195' '$data'"
  jq -c '.time_us += 60000000 | .realtime_us += 60000000' "$data" >>"$moments"
  "$TALLYCTL" show --by route --every 1s --from "$moments" shop/n >"$CASE/out"
  assert_eq '- - -' "$(awk '$1 == "shop/n{route:a}" { print $4, $5, $6 }' "$CASE/out")"
}

definitions_come_back() {
  local before
  before=$("$TALLYCTL" definitions web db)
  "$TALLYCTL" definitions web db >"$CASE/saved"
  assert_eq "= web/us
= web/hits
= db/us" "$("$TALLYCTL" apply "$CASE/saved")"
  define web 'name=us type=range'
  assert_has '~ web/us type=range->array' "$("$TALLYCTL" apply --dry-run "$CASE/saved")"
  assert_attribute web us type range
  "$TALLYCTL" apply "$CASE/saved" >/dev/null
  assert_eq "$before" "$("$TALLYCTL" definitions web db)"
  assert_eq 0 "$("$TALLY_SEND" --socket "$SOCK" <"$CASE/saved"; echo $?)"
  assert_eq "$("$TALLYCTL" apply "$CASE/saved")" "$("$TALLYCTL" apply - <"$CASE/saved")"
  rmdir "$STAT/db"
  _status 1 'there is no db/us; --create makes it' "$TALLYCTL" apply "$CASE/saved"
  assert_has '+ db/us' "$("$TALLYCTL" apply --create "$CASE/saved")"
  assert_attribute db us type range
  echo 'define web name=us type=lisp' >"$CASE/wrong"
  _status 1 "$CASE/wrong, line 1: refused, nothing changed: type must be" \
    "$TALLYCTL" apply "$CASE/wrong"
  _status 1 'stdin, line 1: refused, nothing changed: type must be' \
    "$TALLYCTL" apply - <"$CASE/wrong"
  echo 'define new name=us type=array scale=log2' >"$CASE/wrong"
  _status 1 "$CASE/wrong, line 1: refused, nothing changed: this type also needs: base_interval" \
    "$TALLYCTL" apply --create "$CASE/wrong"
  assert_match ' +\^' "$(tail -n 1 "$CASE/err")"
  echo 'define web name=us type=lisp' >"$CASE/wrong"
  need jq
  rmdir "$STAT/db"
  sed -i 's/range_max=4096/range_max=512/' "$CASE/saved"
  cat "$CASE/wrong" >>"$CASE/saved"
  _status 1 'line 4: refused' "$TALLYCTL" apply --json --create "$CASE/saved"
  assert_eq 'changed same made refused' "$(jq -r '.lines[].what' "$CASE/out" | paste -sd' ')"
}

recordings_pass_through_pipes() {
  need jq
  assert_has '1 queries in' "$("$TALLYCTL" record --every 100ms --count 1 - |
    "$TALLYCTL" show --from - db/us)"
  "$TALLYCTL" record --every 100ms --count 1 "$CASE/a"
  send 'web/hits 41'
  local counted='.differences[] | select(.interface == "web" and .name == "hits") | .samples'
  assert_eq 1 "$("$TALLYCTL" diff --json - now <"$CASE/a" | jq "$counted")"
  assert_eq 1 "$("$TALLYCTL" record --every 100ms --count 1 - |
    "$TALLYCTL" diff --json "$CASE/a" - | jq "$counted")"
  _status 2 'stdin can be only one of them' "$TALLYCTL" diff - -
  # The reader ends first.
  ("$TALLYCTL" record --every 100ms - 2>"$CASE/err" || true) | head -c 10 >/dev/null
  assert_eq '' "$(cat "$CASE/err")"
  echo 'no recording' >"$CASE/text"
  _status 1 'stdin, line 1: no JSON' "$TALLYCTL" diff - now <"$CASE/text"
}

_recorded() {
  "$TALLYCTL" show web/hits --from "$CASE/recording" 2>/dev/null | sed -n 's/^  total /hits /p'
}
recordings_are_whole_and_replayed() {
  local recorder
  "$TALLYCTL" record --every 100ms "$CASE/recording" 2>"$CASE/err" &
  recorder=$!
  wait_until 'grep -qs "\"interface\":\"web\"" "$CASE/recording"'
  send 'web/hits 41'
  wait_until '[ "$(_recorded)" = "$(data web | grep "^hits")" ]'
  kill -INT $recorder
  wait $recorder
  need_python
  py "$CASE/recording" <<'EOT'
import json, sys
text = open(sys.argv[1]).read()
assert text.endswith("\n")
lines = [json.loads(line) for line in text.splitlines()]
assert "tallyctl" in lines[0] and "interfaces" in lines[0]
assert all("statistics" in line for line in lines[1:])
assert sum(line.get("interface") == "db" for line in lines) == 1, "unchanged, so recorded once"
EOT
  assert_eq "$(data web | grep '^hits')" "$(_recorded)"
  send 'web/us 5' 'web/us 6'
  assert_has 'web/us            2' "$("$TALLYCTL" diff "$CASE/recording" now | tr -s ' ' ' ' |
    sed 's/web\/us 2/web\/us            2/')"
  _status 1 '' "$TALLYCTL" diff --exit-code "$CASE/recording" now
  _status 0 '' "$TALLYCTL" diff --exit-code "$CASE/recording" "$CASE/recording"
  "$TALLYCTL" record --max-size 1K "$CASE/small" 2>/dev/null
  [ "$(stat -c %s "$CASE/small")" -le 1024 ]
}

a_recording_has_the_samples_of_the_mount() {
  need jq
  "$TALLYCTL" define web/slow of=us type=value mode=increments range_min=1000 >/dev/null
  "$TALLYCTL" define web/ranges of=us type=range >/dev/null
  send 'web/us 5' 'web/us 6000'
  "$TALLYCTL" record --every 100ms --count 1 "$CASE/recording"
  local web='.interfaces[] | select(.interface == "web") | [.samples, .statistics, .on]'
  assert_eq '[6,4,4]' "$("$TALLYCTL" ls --json | jq -c "$web")"
  assert_eq '[6,4,4]' "$("$TALLYCTL" ls --json --from "$CASE/recording" | jq -c "$web")"
}

differences_say_what_was_left_out() {
  send 'create web/codes type=list entries_max=1 on=1' 'web/codes 1'
  "$TALLYCTL" record --every 100ms --count 1 "$CASE/before"
  send 'web/codes 2'
  assert_match 'web/codes +1 .* 0 values +1 missed +1 value +1 value +1 missed' \
    "$("$TALLYCTL" diff "$CASE/before" now | grep '^web/codes')"
}

snapshots_after_a_restart_or_a_removal_are_unknown() {
  need jq
  "$TALLYCTL" record --every 100ms --count 1 "$CASE/before"
  stop_daemon
  start_daemon
  send 'create web/hits on=1' 'web/hits 1'
  "$TALLYCTL" diff --json "$CASE/before" now >"$CASE/diff"
  jq -e '.differences[] | select(.interface == "web" and .name == "hits") | .samples == null' \
    "$CASE/diff" >/dev/null
  jq -e '.differences[] | select(.interface == "db") | .in_b | not' "$CASE/diff" >/dev/null
}

the_mount_is_found_or_the_choice_is_told() {
  unset TALLY_MOUNT
  local said status=0
  said=$("$TALLYCTL" ls 2>&1) || status=$?
  # Other tests have mounts, too.
  if [ $status -eq 0 ]; then assert_has web "$said"
  else assert_has 'several mounts of tallyfs; --mount or TALLY_MOUNT says which:' "$said"; fi
}

a_daemon_that_does_not_answer_is_told_after_two_seconds() {
  "$TALLYCTL" ls >/dev/null
  freeze "$SERVER"
  local status=0 said
  said=$(within 30 "$TALLYCTL" ls 2>&1) || status=$?
  kill -CONT "$SERVER"
  assert_eq 3 $status
  assert_has 'the daemon does not answer for 2000 ms' "$said"
}

a_dead_mount_says_how_to_clear_it() {
  kill_daemon
  _status 3 'fusermount3 -u -z' "$TALLYCTL" ls
}

a_mount_of_another_user_is_closed() {
  need_root
  chmod 755 "$CASE"
  local status=0 said
  said=$(as_nobody "$(command -v "$TALLYCTL")" ls --mount "$MNT" 2>&1) || status=$?
  [ $status -ne 126 ] || skip 'nobody may not run tallyctl here'
  assert_eq 3 $status
  assert_has 'allow_other' "$said"
}

an_interface_that_goes_is_left_out_of_intervals() {
  need jq
  "$TALLYCTL" show --json --every 100ms web db >"$CASE/shown" &
  local shown=$!
  wait_until '[ -s "$CASE/shown" ]'
  rmdir "$STAT/db"
  wait_until '[ "$(tail -n 1 "$CASE/shown" | jq ".interfaces | length" 2>/dev/null)" = 1 ]'
  kill $shown
  wait $shown || true
  assert_eq 2 "$(head -n 1 "$CASE/shown" | jq '.interfaces | length')"
}

names_of_two_columns_are_aligned() {
  export LC_ALL=C.UTF-8
  send 'create web/延迟 on=1'
  assert_eq 'web/延迟   on  value        0' "$("$TALLYCTL" ls web | grep 延迟)"
}

a_refusal_says_what_to_do() {
  local said
  _status 2 'define changes one statistic; on, off and reset take patterns' \
    "$TALLYCTL" define 'web/*' on=0
  _status 1 "it comes into being with: tallyctl create nix/us type=range on=1" \
    "$TALLYCTL" define nix/us type=range
  _status 1 'tallyctl ls lists what is there' "$TALLYCTL" show nix
  _status 2 'as tallyctl diff before.jsonl now' "$TALLYCTL" diff
  said=$("$TALLYCTL" define web/hits type=array range=0-100 2>&1 || true)
  assert_has 'an example that works: type=array' "$said"
  assert_has_not 'range=0-100' "${said#*an example that works}"
}
