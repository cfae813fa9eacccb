# tally-web on a real mount: the token, names of the server, other sites, headers, limits.

. "$here/web_lib.sh"

_set_up() {
  need curl
  start_daemon
  send 'create web/us type=array scale=log2 base_interval=1 range_min=0 range_max=4096 on=1'
  send 'web/us 20' 'web/us 120'
  start_web
}

reading_needs_the_token() {
  local path
  for path in /api/1/statistics /api/1/statistics/web /api/1/heat/web/us /metrics; do
    assert_eq 401 "$(http_status "$WEB$path")" "$path without a token"
    assert_eq 401 "$(http_status -H 'Authorization: Bearer 00' "$WEB$path")" "a wrong token"
    assert_eq 200 "$(http_status -H "$TOKEN" "$WEB$path")" "$path with the token"
  done
  assert_eq 200 "$(http_status "$WEB/healthz")"
  assert_eq 404 "$(http_status "$WEB/nothing")"
  assert_eq 404 "$(http_status -H "$TOKEN" "$WEB/api/1/nothing")"
}

the_token_s_file_is_its_owner_s_and_stays() {
  local before
  assert_eq 600 "$(stat -c %a "$CASE/run/web-token")"
  before=$(cat "$CASE/run/web-token")
  assert_match '[0-9a-f]{64}' "$before"
  stop_web
  start_web
  assert_eq "$before" "$(cat "$CASE/run/web-token")"
  stop_web
  chmod 644 "$CASE/run/web-token"
  assert_fails_with 'no one else can read' "$TALLY_WEB" --mount "$MNT" --listen 127.0.0.1:0
  assert_fails_with 'must be' "$TALLY_WEB" --mount "$MNT" --token-file /dev/null \
    --listen 127.0.0.1:0
}

help_begins_with_three_examples() {
  "$TALLY_WEB" --help >"$CASE/help"
  assert_eq 3 "$(sed -n 2,4p "$CASE/help" | grep -c '^  tally-web ')" "$(head -5 "$CASE/help")"
}

options_open_reading_or_metrics() {
  stop_web
  start_web --open-metrics
  assert_eq '200 401' "$(http_status "$WEB/metrics") $(http_status "$WEB/api/1/statistics")"
  stop_web
  start_web --open-read
  assert_eq '200 200' "$(http_status "$WEB/metrics") $(http_status "$WEB/api/1/statistics")"
  stop_web
  start_web --metrics-only --open-metrics
  assert_eq '200 404' "$(http_status "$WEB/metrics") $(http_status "$WEB/")"
  stop_web
  start_web --metrics-only
  assert_eq 401 "$(http_status "$WEB/metrics")"
  assert_has 'authorization: credentials_file; or start tally-web with --open-metrics' \
    "$(cat "$CASE/answer")"
}

other_names_and_sites_are_refused() {
  assert_eq 421 "$(http_status -H 'Host: evil.example.org' "$WEB/")"
  assert_eq 421 "$(http_status -H 'Host:' "$WEB/")"
  assert_eq 200 "$(http_status -H 'Host: localhost:1' "$WEB/healthz")"
  assert_eq 403 "$(http_status -H 'Origin: http://evil.example.org' "$WEB/healthz")"
  assert_eq 403 "$(http_status -H 'Sec-Fetch-Site: cross-site' "$WEB/healthz")"
  stop_web
  start_web --host stats.example.org
  assert_eq 200 "$(http_status -H 'Host: stats.example.org' "$WEB/healthz")"
}

every_answer_has_the_headers() {
  local path said
  for path in / /api/1/statistics /nothing /metrics; do
    said=$(curl -si "$WEB$path" | tr -d '\r')
    assert_has "Content-Security-Policy: default-src 'none'; script-src 'self'" "$said"
    assert_has "frame-ancestors 'none'" "$said"
    assert_has 'X-Content-Type-Options: nosniff' "$said"
    assert_has 'Referrer-Policy: no-referrer' "$said"
    assert_has 'Cross-Origin-Opener-Policy: same-origin' "$said"
    assert_has 'Cross-Origin-Resource-Policy: same-origin' "$said"
    assert_has_not 'Access-Control' "$said"
  done
  said=$(curl -si -H "$TOKEN" "$WEB/api/1/statistics")
  assert_has 'Cache-Control: no-store' "$said"
}

what_is_too_large_or_no_http_is_refused() {
  assert_eq 431 "$(http_status -H "X: $(printf '%9000s' | tr ' ' x)" "$WEB/")"
  head -c 70000 /dev/zero | tr '\0' x >"$CASE/body"
  assert_eq 413 "$(http_status -X POST -H "$TOKEN" -H 'Content-Type: application/json' \
    --data-binary "@$CASE/body" "$WEB/api/1/definition/web")"
  need socat
  assert_has '400 Bad Request' "$(printf 'garbage\r\n\r\n' |
    socat -t 5 - "TCP:${WEB#http://}" | head -1)"
  assert_eq 400 "$(http_status --path-as-is "$WEB/%zz")"
  assert_eq 405 "$(http_status -X DELETE "$WEB/")"
}

names_do_not_lead_out_of_the_tree() {
  local name
  for name in .. ..%2f.. %2fetc%2fpasswd tracing%2ferror_log tracing%2flatency_hist%2f..%2f.. \
    ..%2f..%2fstatistics%2fweb; do
    assert_eq 404 "$(http_status --path-as-is -H "$TOKEN" "$WEB/api/1/statistics/$name")" "$name"
  done
}

# In Python: connections to the server, and questions on them.
_CLIENT='
import socket, sys
host, port = sys.argv[1].split(":")
PATIENCE = 60 * float(sys.argv[2])
END = b"\r\n\r\n"
REQUEST = b"HEAD /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"  # its answer has no body
def connect():
    return socket.create_connection((host, int(port)), PATIENCE)
def is_answered(connection):
    connection.sendall(REQUEST)
    answer = b""
    while not answer.endswith(END):
        part = connection.recv(4096)
        if not part:
            return False
        answer += part
    return answer.startswith(b"HTTP/1.1 404")
def is_closed(connection):
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True
'
_with_client() { py "${WEB#http://}" "${TALLY_PATIENCE:-1}"; }

idle_connections_give_way_to_new_ones() {
  _with_client <<EOT
$_CLIENT
held = [connect() for _ in range(64)]
for each in held:
    assert is_answered(each)
assert is_answered(held[0]), "now the second one is idle for the longest time"
with connect() as more:
    assert is_answered(more), "the 65th"
    assert is_closed(held[1])
    assert is_answered(held[0]), "the first"
    assert is_answered(held[2]), "the third"
EOT
  assert_has 'tally_web_limits_total{limit="connections"} 1' \
    "$(curl -s -H "$TOKEN" "$WEB/metrics")"
}

holders_of_the_token_keep_their_connections() {
  _with_client <<EOT
$_CLIENT
WITHOUT, WITH = REQUEST, REQUEST[:-2] + b"$TOKEN" + END
def is_kept(connection):
    global REQUEST
    REQUEST = WITH
    answered = is_answered(connection)
    REQUEST = WITHOUT
    return answered
held = connect()
assert is_kept(held)
for _ in range(3):
    others = [connect() for _ in range(64)]
    for each in others[-8:]:
        assert is_answered(each)
    assert is_kept(held), "idle longest, but of a holder"
EOT
}

half_requests_and_answers_that_are_not_taken_keep_no_one_out() {
  _with_client <<EOT
$_CLIENT
halves = [connect() for _ in range(64)]
for each in halves:
    each.sendall(REQUEST[:20])
with connect() as more:
    assert is_answered(more), "beside half requests"
for each in halves:
    each.close()
deaf = []
for _ in range(64):
    each = socket.socket()
    each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    each.connect((host, int(port)))
    each.setblocking(False)
    deaf.append(each)
# Answers to so many do not fit into the buffers.
for each in deaf:
    try:
        each.send(REQUEST * 20_000)
    except (BlockingIOError, BrokenPipeError, ConnectionResetError):
        pass
for _ in range(10):
    with connect() as more:
        assert is_answered(more), "beside answers that are not taken"
EOT
}

# Metrics of some megabytes, by long names in each line.
answers_that_are_not_taken_have_a_bound() {
  local i long lines array='type=array scale=lin base_interval=1 range_min=0 range_max=255'
  long=$(printf '%0200d' 0)
  for ((i = 0; i < 40; i += 10)); do
    mapfile -t lines < <(printf "create $long/s{k:$long%d} on=1 $array\n" $(seq $i $((i + 9))))
    send "${lines[@]}"
  done
  py "${WEB#http://}" "${TALLY_PATIENCE:-1}" "$TOKEN" <<EOT
$_CLIENT
import re, time
BOUND = 64 << 20
GET = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n" + sys.argv[3].encode() + END
def ask():
    each = socket.socket()
    each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    each.settimeout(PATIENCE)
    each.connect((host, int(port)))
    each.sendall(GET)
    return each
def read_until(asking, text, is_whole):
    while not is_whole(text):
        part = asking.recv(64)
        assert part, text
        text += part
    return text
def answer(asking):
    """(status, size, text); of an answer that is not refused no more is read than the header."""
    head, _, text = read_until(asking, b"", lambda text: END in text).partition(END)
    status, size = int(head.split()[1]), int(re.search(rb"Content-Length: (\d+)", head).group(1))
    if status == 503: text = read_until(asking, text, lambda text: len(text) >= size)
    return status, size, text
# One after the other: tally-web makes the text once a second for all. A refusal for another reason
# says that the mount is late, as on a slow machine.
FULL = b"too many bytes are being sent to others\n"
asked, sizes, text, end = [], [], b"", time.monotonic() + PATIENCE
while text != FULL:
    each = ask()
    status, size, text = answer(each)
    assert status in (200, 503) and time.monotonic() < end, (status, text)
    if status == 200:
        asked.append(each)
        sizes.append(size)
        assert sum(sizes) <= BOUND, sizes
assert min(sizes) > 2e6 and BOUND < sum(sizes) + max(sizes) * 1.01, sizes
with connect() as more:
    assert is_answered(more), "small ones are answered"
for each in asked:
    each.close()
end = time.monotonic() + PATIENCE
while True:
    with ask() as again:
        if answer(again)[0] == 200:
            break
    assert time.monotonic() < end, "there is room again"
    time.sleep(0.1)
EOT
  assert_match '.*tally_web_limits_total\{limit="bytes"\} [1-9].*' \
    "$(curl -s -H "$TOKEN" "$WEB/metrics?interface=tallyfs" | tr '\n' ' ')"
}

# A daemon that hangs holds the threads that read its files; 16 more requests may wait for them.
requests_that_wait_for_a_hanging_daemon_have_a_bound() {
  freeze "$SERVER"
  py "${WEB#http://}" "${TALLY_PATIENCE:-1}" "$TOKEN" <<EOT
$_CLIENT
GET = b"GET /api/1/statistics/web HTTP/1.1\r\nHost: localhost\r\n" + sys.argv[3].encode() + END
asked = [connect() for _ in range(24)]
for each in asked:
    each.sendall(GET)
with connect() as more:
    assert is_answered(more), "what needs no file is answered"
answers = [each.recv(65536) for each in asked]
refused = [each for each in answers if b"too many requests wait" in each]
assert 1 <= len(refused) <= 24 - 18, answers
for each in refused:
    assert each.startswith(b"HTTP/1.1 503") and b"Retry-After: 1" in each, each
EOT
  kill -CONT "$SERVER"
  assert_match '.*tally_web_limits_total\{limit="reads"\} [1-6] .*' \
    "$(curl -s -H "$TOKEN" "$WEB/metrics" | tr '\n' ' ')"
}

an_answer_that_ends_the_connection_arrives() {
  _with_client <<EOT
$_CLIENT
def answer_to(request):
    with connect() as asking:
        asking.sendall(request)  # all of it, before the answer is read
        asking.shutdown(socket.SHUT_WR)
        answer = b""
        while part := asking.recv(65536):
            answer += part
        return answer
BODY = 3_000_000 * b"x"
POST = b"POST /api/1/definition/web HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
for _ in range(20):
    assert answer_to(POST % len(BODY) + BODY).startswith(b"HTTP/1.1 413")
    assert answer_to(b"GET / HTTP/1.1\r\nX: " + BODY).startswith(b"HTTP/1.1 431")
    assert answer_to(b"garbage\r\n\r\n" + BODY).startswith(b"HTTP/1.1 400")
EOT
}

listens_where_it_is_told() {
  assert_fails_with 'takes a free port' "$TALLY_WEB" --mount "$MNT" --listen "${WEB#http://}"
  stop_web
  start_web --listen "unix:$CASE/run/http"
  assert_eq ok "$(curl -s --unix-socket "$CASE/run/http" http://localhost/healthz)"
  assert_eq 660 "$(stat -c %a "$CASE/run/http")"
  stop_web
  [ ! -e "$CASE/run/http" ] || fail "the socket file was left"
  assert_fails_with '--allow-plaintext' "$TALLY_WEB" --mount "$MNT" --listen 0.0.0.0:0
  assert_fails_with 'as 127.0.0.1:8255' "$TALLY_WEB" --mount "$MNT" --listen localhost
  assert_fails_with 'nothing that could be changed' \
    "$TALLY_WEB" --mount "$MNT" --metrics-only --allow-changes
  local status=0
  "$TALLY_WEB" --mount "$MNT" --listen nonsense 2>/dev/null || status=$?
  assert_eq 2 $status "exit status for an address that is none"
}
