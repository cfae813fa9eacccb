#!/usr/bin/env bash
# The shipped formats of tally-feed-log, with the logs that real programs write of what real clients
# did. A program that is not installed is skipped, and told.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/log_lib.sh"
has() { command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ]; }
PATH=$PATH:/usr/sbin
missing() { echo "ok $((COUNT += 1)) - $1 # SKIP $1 IS NOT INSTALLED"; }
# count_of INTERFACE STATISTIC: the samples of all statistics of that name.
count_of() {
  data "$1" | awk -v name="$2" 'index($1, name "{") == 1 && $2 == "count" { n += $3 }
    END { print n + 0 }'
}
feed() { "$FEED" --socket "$SOCK" --from start --once "$@" >"$WORK/once" 2>"$WORK/once.err"; }
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}
# begin PROGRAM PORT: returns when it serves; it goes at the end of this script.
begin() {
  "${@:2}" >"$WORK/$1.out" 2>&1 &
  STARTED+=($!)
  SERVES=$!
  check "$1 serves" wait_until "curl -s -o /dev/null http://127.0.0.1:$PORT/index.html"
}
# 60 requests, of which 20 are for what is not there.
get_all() {
  local i
  for i in $(seq 20); do
    curl -s "http://127.0.0.1:$PORT/index.html?n=$i" "http://127.0.0.1:$PORT/cart/$i" \
      "http://127.0.0.1:$PORT/index.html" >/dev/null
  done
}
# to_journal UNIT: its input, a message a line, as systemd-journal-remote reads it.
to_journal() {
  awk -v unit="$1" '{ sub(/\r$/, "")
    printf "__REALTIME_TIMESTAMP=%d\n", 1764166000000000 + NR
    printf "__MONOTONIC_TIMESTAMP=%d\n", NR + 1000
    print "_BOOT_ID=0123456789abcdef0123456789abcdef"
    printf "_SYSTEMD_UNIT=%s\nMESSAGE=%s\n\n", unit, $0 }'
}
mkdir -p "$WORK/html"
echo hello >"$WORK/html/index.html"
chmod -R a+rX "$WORK/html"
has curl && has python3 || skip_all "needs curl and python3"
start_daemon

# ---- nginx
if has nginx; then
  PORT=$(free_port)
  cat >"$WORK/nginx.conf" <<CONF
daemon off; master_process off; error_log $WORK/nginx.error; pid $WORK/nginx.pid;
events {}
http {
  log_format timed '\$remote_addr - \$remote_user [\$time_local] "\$request" \$status '
                   '\$body_bytes_sent "\$http_referer" "\$http_user_agent" '
                   '\$request_time \$upstream_response_time';
  access_log $WORK/nginx.log timed;
  access_log $WORK/nginx.combined combined;
  client_body_temp_path $WORK/nginx1; proxy_temp_path $WORK/nginx2; fastcgi_temp_path $WORK/nginx3;
  uwsgi_temp_path $WORK/nginx4; scgi_temp_path $WORK/nginx5;
  server { listen 127.0.0.1:$PORT; root $WORK/html; }
}
CONF
  begin nginx nginx -c "$WORK/nginx.conf"
  get_all
  printf '\x16\x03\x01junk\r\n\r\n' | socat -t1 - "TCP4:127.0.0.1:$PORT" >/dev/null 2>&1
  stop "$SERVES"
  feed --format nginx "$WORK/nginx.log"
  lines=$(wc -l <"$WORK/nginx.log")
  check_eq "$((lines - 21)) 20 1" "$(value nginx 'requests{status:200}') $(value nginx \
    'requests{status:404}') $(value nginx 'requests{status:400}')" \
    "nginx: requests by status, and one of junk"
  check_eq "$((lines - 1))" "$(count_of nginx latency)" "each has a latency"
  check_eq 20 "$(data nginx | awk '/^latency{route:%2Fcart%2F\*,status:404} count/ { print $3 }')" \
    "by route"
  feed --format nginx "$WORK/nginx.combined"
  check_eq 40 "$(value nginx 'requests{status:404}')" "and the format combined without times"
else
  missing nginx
fi

# ---- Apache
if has apache2; then
  PORT=$(free_port)
  cat >"$WORK/apache.conf" <<CONF
ServerName localhost
ServerRoot $WORK
Listen 127.0.0.1:$PORT
PidFile $WORK/apache.pid
ErrorLog $WORK/apache.error
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
DocumentRoot $WORK/html
LogFormat "%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\" %D" timed
LogFormat "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\"" combined
CustomLog $WORK/apache.log timed
CustomLog $WORK/apache.combined combined
CONF
  begin apache2 apache2 -X -f "$WORK/apache.conf"
  get_all
  curl -s -o /dev/null -A 'a "quoted" agent' "http://127.0.0.1:$PORT/index.html"
  stop "$SERVES"
  feed --format apache "$WORK/apache.log"
  lines=$(wc -l <"$WORK/apache.log")
  check_eq "$((lines - 20)) 20" \
    "$(value apache 'requests{status:200}') $(value apache 'requests{status:404}')" \
    "Apache: requests by status, also of an agent with quotation marks"
  check_eq "$lines" "$(count_of apache latency)" "each has a latency"
  feed --format apache "$WORK/apache.combined"
  check_eq 40 "$(value apache 'requests{status:404}')" "and the format combined without times"
else
  missing apache2
fi

# ---- HAProxy, which logs by syslog
if has haproxy && has socat; then
  PORT=$(free_port) SERVER=$(free_port)
  (cd "$WORK/html" && exec python3 -m http.server --bind 127.0.0.1 "$SERVER" >/dev/null 2>&1) &
  STARTED+=($!)
  socat -u "UNIX-RECVFROM:$WORK/syslog,fork" "OPEN:$WORK/haproxy.log,creat,append" &
  STARTED+=($!)
  cat >"$WORK/haproxy.cfg" <<CONF
global
  log $WORK/syslog local0
defaults
  mode http
  log global
  option httplog
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend web
  bind 127.0.0.1:$PORT
  default_backend files
backend files
  server one 127.0.0.1:$SERVER
CONF
  begin haproxy haproxy -f "$WORK/haproxy.cfg"
  check "its server serves" wait_until "curl -sf -o /dev/null http://127.0.0.1:$PORT/index.html"
  get_all
  check "its log is there" wait_until '[ "$(grep -c " 404 " "$WORK/haproxy.log")" = 20 ]'
  stop "$SERVES"
  # Datagrams of syslog have no line feeds.
  sed -i 's/<[0-9]*>/\n&/g' "$WORK/haproxy.log" && echo >>"$WORK/haproxy.log"
  feed --format haproxy "$WORK/haproxy.log"
  check_eq 20 "$(value haproxy 'requests{backend:files,status:404}')" "HAProxy: by status"
  check "and latencies by server" [ "$(count_of haproxy latency)" -ge 60 ]
else
  missing haproxy
fi

# ---- PostgreSQL, which does not run as root
PG=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
if [ -n "$PG" ] && [ "$(id -u)" -eq 0 ] && getent passwd postgres >/dev/null; then
  install -d -o postgres "$WORK/pg"
  as_postgres() { setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@"; }
  as_postgres "$PG/initdb" -N -D "$WORK/pg/data" >"$WORK/initdb" 2>&1
  as_postgres "$PG/postgres" -D "$WORK/pg/data" -k "$WORK/pg" -c listen_addresses= \
    -c log_min_duration_statement=0 -c fsync=off 2>"$WORK/postgres.log" &
  STARTED+=($!)
  SERVES=$!
  query() { as_postgres "$PG/psql" -h "$WORK/pg" -X -q -c "$1" postgres >/dev/null 2>&1; }
  check "PostgreSQL serves" wait_until 'query "SELECT 1"'
  started=$(grep -c 'duration: ' "$WORK/postgres.log")
  for i in 1 2 3 4 5; do
    query "SELECT $i"
    query "CREATE TABLE t$i (x int)"
    query 'SELECT wrong'
  done
  stop "$SERVES"
  feed --format postgresql "$WORK/postgres.log"
  check_eq $((10 + started)) "$(data postgresql | awk '/^duration count/ { print $3 }')" \
    "PostgreSQL: each statement has a duration"
  check_eq 5 "$(data postgresql | awk '/^duration_by{verb:create} count/ { print $3 }')" \
    "by their verbs"
  check_eq 5 "$(value postgresql 'messages{level:error}')" "errors are counted"
else
  missing postgresql
fi

# ---- sshd, with a login by key and two that fail
if has sshd && has ssh; then
  PORT=$(free_port)
  [ "$(id -u)" -ne 0 ] || install -d -m 755 /run/sshd
  ssh-keygen -q -t ed25519 -N '' -f "$WORK/host_key"
  ssh-keygen -q -t ed25519 -N '' -f "$WORK/user_key"
  cat >"$WORK/sshd.conf" <<CONF
ListenAddress 127.0.0.1:$PORT
HostKey $WORK/host_key
AuthorizedKeysFile $WORK/user_key.pub
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
CONF
  "$(command -v sshd)" -D -e -f "$WORK/sshd.conf" 2>"$WORK/sshd.log" &
  STARTED+=($!)
  SERVES=$!
  check "sshd serves" wait_until 'grep -q "Server listening" "$WORK/sshd.log"'
  printf '#!/bin/sh\necho wrong\n' >"$WORK/askpass"
  chmod 755 "$WORK/askpass"
  login() {  # login USER OPTION...: of a client that knows no other hosts, agents and keys
    SSH_ASKPASS=$WORK/askpass SSH_ASKPASS_REQUIRE=force ssh -F /dev/null -p "$PORT" -l "$1" \
      -o StrictHostKeyChecking=no -o UserKnownHostsFile="$WORK/known_hosts" -o IdentityAgent=none \
      -o NumberOfPasswordPrompts=1 "${@:2}" 127.0.0.1 true >>"$WORK/ssh.said" 2>&1 </dev/null
  }
  KEY=(-o IdentitiesOnly=yes -i "$WORK/user_key" -o PreferredAuthentications=publickey)
  PASSWORD=(-o PreferredAuthentications=password)
  login "$(id -un)" "${KEY[@]}"
  check_eq 0 $? "a key logs in"
  login "$(id -un)" "${PASSWORD[@]}" && not_ok "a wrong password logs in"
  login tally-nobody "${PASSWORD[@]}" && not_ok "an unknown user logs in"
  check "its log is there" wait_until '[ "$(grep -c "^Failed password" "$WORK/sshd.log")" = 2 ]'
  stop "$SERVES"
  feed --format sshd "$WORK/sshd.log"
  check_eq 1 "$(value sshd 'logins{method:publickey,result:accepted}')" "sshd: a login by key"
  check_eq "2 1" "$(value sshd 'logins{method:password,result:failed}') $(value sshd \
    invalid_users)" "and failures, one of an unknown user"
  # The same messages in the journal, beside those of another unit.
  if [ -x /lib/systemd/systemd-journal-remote ]; then
    mkdir "$WORK/journal"
    {
      to_journal ssh.service <"$WORK/sshd.log"
      to_journal other.service <"$WORK/sshd.log"
    } | /lib/systemd/systemd-journal-remote -o "$WORK/journal/a.journal" - >"$WORK/remote" 2>&1
    feed --format sshd --journal ssh --journal-directory "$WORK/journal"
    check_eq "2 4 2" "$(value sshd 'logins{method:publickey,result:accepted}') $(value sshd \
      'logins{method:password,result:failed}') $(value sshd invalid_users)" \
      "sshd: once more by the journal, of its unit alone"
  else
    missing systemd-journal-remote
  fi
else
  missing sshd
fi

echo "1..$COUNT"
[ $FAILED -eq 0 ]
