# Lines of people: a word that nothing reads refuses them. A create that changes nothing says so.

_send() { "$TALLY_SEND" --socket "$SOCK" "$@"; }
# _says STATUS TEXT LINE: what tally-send says of the line.
_says() {
  local status=0
  SAID=$(_send "$3" 2>&1) || status=$?
  assert_eq "$1" "$status" "exit status of $3 ($SAID)"
  assert_eq "$2" "$SAID"
}

create_refuses_a_word_that_nothing_reads() {
  _says 1 "tally-send: line 1: there is no key 'types'; did you mean type? (Invalid argument)
  create web/us types=range
                ^" 'create web/us types=range'
  _says 1 "tally-send: line 1: 'seconds' is no key=value, and values have no blanks \
(Invalid argument)
  create web/us units=milli seconds
                            ^" 'create web/us units=milli seconds'
  _says 1 "tally-send: line 1: a counter is type=value here (Invalid argument)
  create web/us type=counter
                ^" 'create web/us type=counter'
  assert_eq tallyfs "$(ls "$STAT")"
  # A line of text has no answer; error_log says why.
  send 'create web/us colour=1'
  assert_has "there is no key 'colour'; the keys are " "$(errors)"
  assert_eq tallyfs "$(ls "$STAT")"
}

define_is_strict_and_takes_the_statistic_as_its_target() {
  send 'create web/us on=1'
  _says 0 '' 'define web/us type=range'
  assert_attribute web us type range
  _says 1 "tally-send: line 1: the only value of data is reset (Invalid argument)
  define web/us data=clear
                ^" 'define web/us data=clear'
  _says 1 "tally-send: line 1: entries_max is for type=list, history or raw (Invalid argument)
  define web name=us entries_max=5
                     ^" 'define web name=us entries_max=5'
  _says 1 "tally-send: line 1: quantiles are percentages: 50,99 (Invalid argument)
  define web/us type=quantiles precision=5 quantiles=0.5,0.99
                                           ^" \
    'define web/us type=quantiles precision=5 quantiles=0.5,0.99'
  _says 1 "tally-send: line 1: no such interface; it comes into being with: create nix/us \
(No such file or directory)
  define nix/us on=1
         ^" 'define nix/us on=1'
  assert_attribute web us type range
}

a_printed_line_works_at_each_door() {
  local line
  send 'create web/us on=1 type=list entries_max=9 units=us/requests'
  line=$(definition web)
  _says 0 '' "define web $line"
  _says 0 '' "define web/us $line"
  _says 0 '' "create web/us $line"
  echo "strict=1 $line" >"$STAT/web/definition"
  assert_eq '' "$(errors)"
  _says 0 '' 'remove web/us'
  _says 0 '' "create web/us $line"
  assert_attribute web us type list
  assert_eq '' "$(errors)"
}

create_of_what_is_there_says_what_differs() {
  send 'create web/us on=1 type=range' 'web/us 5'
  _says 0 '' 'create web/us type=range on=1'
  _says 0 "tally-send: line 1: warning: it exists with type=range and stays so; to change it: \
define web/us type=last
  create web/us type=last" 'create web/us type=last'
  assert_has ': warning: it exists with type=range and stays so; ' "$(errors)"
  assert_has '; to change it: define web/us type=last
  Command: create web/us type=last' "$(errors)"
  assert_data web 'us 1 5 5.000 5'
  _says 0 '' "$(sed -n 's/.*to change it: //p;q' <<<"$SAID")"
  assert_attribute web us type last
  _says 0 '' 'create web/us type=last'
}

an_array_without_a_begin_is_warned_of() {
  local open='warning: without range_min the intervals double from -9223372036854775808 on: add '
  open+=range_min=0
  _says 0 "tally-send: line 1: $open
  create web/us type=array scale=log2 base_interval=1" \
    'create web/us type=array scale=log2 base_interval=1'
  assert_has "$open
  Command: create web/us type=array scale=log2 base_interval=1
                                    ^" "$(errors)"
  _says 0 '' 'create web/ok type=array scale=log2 base_interval=1 range_min=0'
}

a_unit_that_is_taken_for_that_of_counts_is_warned_of() {
  local each bytes=units=bytes
  local said='names what is counted, and X has no unit; if X is in'
  _says 0 "tally-send: line 1: warning: $bytes $said bytes: $bytes/samples
  create web/size type=range units=bytes" 'create web/size type=range units=bytes'
  _send 'define web name=size units=ms' 2>"$CASE/said"
  assert_has "units=ms $said milliseconds: units=milliseconds/samples" "$(cat "$CASE/said")"
  _send 'define web name=size type=quantiles precision=5 quantiles=50' 2>"$CASE/said"
  assert_has "warning: units=ms $said" "$(cat "$CASE/said")"
  for each in 'create web/read units=bytes' 'create web/n type=range units=requests' \
    'define web name=size units=bytes/samples' 'define web name=size on=1'; do
    _says 0 '' "$each"
  done
}

strict_1_makes_a_line_of_the_file_strict_and_messages_leave_it_out() {
  send 'create web/us on=1'
  assert_fails_with 'Invalid argument' define web 'strict=1 name=us types=range'
  assert_has "statistics/web: error: there is no key 'types'; did you mean type?
  Command: name=us types=range
                   ^" "$(errors)"
  assert_fails_with 'Invalid argument' define web 'name=us on=0 strict=1 now'
  assert_has 'Command: name=us on=0 now
                        ^' "$(errors)"
  define web 'strict=1 name=us on=0'
  assert_attribute web us on 0
  define web 'name=us types=range'
}

rules_are_strict() {
  _rule() { echo "$1" >>"$MNT/rules"; }
  assert_fails_with 'Invalid argument' _rule 'e/* types=range'
  assert_has "there is no key 'types'; did you mean type?
  Command: e/* types=range
               ^" "$(errors)"
  assert_fails_with 'Invalid argument' _rule 'e/* type=range entries_max=5'
  assert_has 'entries_max is for type=list, history or raw' "$(errors)"
  assert_fails_with 'Invalid argument' _rule 'e/* data=clear'
  _rule 'e/* entries_max=5'
}

a_name_and_a_number_are_refused_with_what_to_write() {
  _says 1 "tally-send: line 1: a name has one '/': write %2F for others (Invalid argument)
  web/us/cart 12
        ^" 'web/us/cart 12'
  _says 1 "tally-send: line 1: whole numbers only: create web/us type=range decimals=6 on=1, or \
send microseconds (Invalid argument)
  web/us 1.5
         ^" 'web/us 1.5'
}

labels_are_typed_as_people_read_them_and_stored_in_one_spelling() {
  _say_no() { _says 1 "tally-send: line 1: $1 (Invalid argument)
  $2
  $3" "$2"; }
  _says 0 '' 'web/us{route:/cart,code:200} 5'
  _says 0 '' 'web/us{code:200,route:%2Fcart} 6'
  _says 0 '' 'create web/l{x:a b} on=1'
  _says 0 '' 'create web/l{q:"a,b"} on=1'
  _says 0 '' 'define web/us{route:/cart,code:200} type=value mode=increments'
  _says 0 '' 'define web/v{x:a b} of=l{x:a b} type=value mode=increments'
  echo 'name=l{ x : a b } units=requests' >"$STAT/web/definition"
  assert_attribute web 'l{x:a%20b}' units requests
  assert_attribute web 'v{x:a%20b}' of 'l{x:a%20b}'
  assert_eq 'l{q:a%2Cb} l{x:a%20b} us{code:200,route:%2Fcart} v{x:a%20b}' "$(_names web)"
  _say_no 'this { has no }' 'web/l{x:a 5' '     ^'
  _say_no 'the label x is given twice' 'create web/l{x:1,x:2} on=1' '                 ^'
  _say_no 'labels are {KEY:VALUE,...}, as {route:/cart,code:200}' 'web/l{:1} 5' '      ^'
  _says 0 '' 'remove web/us{route:/cart,code:200}'
  assert_eq 'l{q:a%2Cb} l{x:a%20b} v{x:a%20b}' "$(_names web)"
}

rules_match_labels_as_they_are_typed() {
  echo 'shop/us{*route:/cart/*} type=array range_min=0 range_max=99 base_interval=10 scale=lin' \
    >"$MNT/rules"
  send 'shop/us{route:/cart/a b,code:200} 5' 'shop/us{route:/home} 5'
  assert_attribute shop 'us{code:200,route:%2Fcart%2Fa%20b}' type array
  assert_attribute shop 'us{route:%2Fhome}' type range
  assert_has 'shop/us{*route:%2Fcart%2F*} ' "$(cat "$MNT/rules")"
}

# The names of an interface's statistics, sorted.
_names() {
  sed -n 's/^name=\([^ ]*\) .*/\1/p' "$STAT/$1/definition" | LC_ALL=C sort | paste -sd' '
}
