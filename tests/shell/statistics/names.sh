# What an interface or a statistic may be called.

_long() { printf "%0$1d" 0 | tr 0 "${2:-n}"; }
_refused() {  # _refused NAME: with EINVAL as both, and nothing of it is there
  NAME=$1 py <<'EOT'
from peer import *
import errno
peer, name = Peer(), os.environb[b"NAME"]
for text in (b"create web/" + name, b"create " + name + b"/hits"):
    got = peer.ask(text)
    assert got[0] == errno.EINVAL, (text, got)
assert os.listdir(os.environ["STAT"]) == ["tallyfs"], os.listdir(os.environ["STAT"])
EOT
}

have_up_to_255_bytes() {
  send "$(_long 255 i)/$(_long 255 s) 1"
  assert_counts "$(_long 255 i)" "$(_long 255 s) 1"
}

beyond_255_bytes_are_refused_not_truncated() {
  _refused "$(_long 256)"
  send "web/$(_long 256) 1"
  assert_eq tallyfs "$(ls "$STAT")"
}

may_be_printable_utf8() {
  send 'Straßenbahn/Fahrgäste→Süd 0 3' "a-b.c:d,e/#1\"%'\$ 0 4" 'ok/(x)[y]{z}~!@&*;<>?^_+\` 2'
  assert_counts 'Straßenbahn' 'Fahrgäste→Süd 3'
  assert_counts 'a-b.c:d,e' "#1\"%'\$ 4"
  assert_counts ok '(x)[y]{z}~!@&*;<>?^_+\` 1'
}

may_not_be_dot_or_dotdot() { _refused .; _refused ..; }
may_not_hold_an_equals_sign() { _refused 'a=b'; }
may_not_hold_control_characters() {
  _refused $'a\x01b'
  _refused $'a\x7fb'
  _refused $'a\xc2\x85b'
  _refused $'a\e[31mb'
}
may_not_be_broken_utf8() {
  _refused $'a\xff'
  _refused $'\xc3'
  _refused $'\xc0\xaf'
  _refused $'\xed\xa0\x80'
}
may_not_hold_unicode_white_space() { _refused $'a\xc2\xa0b'; _refused $'a\xe2\x80\xa8b'; }

may_not_be_empty_or_hold_a_slash() {
  py <<'EOT'
from peer import *
import errno
for text in ("create /hits", "create web/", "create /", "create web/a/b"):
    assert Peer().ask(text)[0] == errno.EINVAL, text
EOT
  assert_eq tallyfs "$(ls "$STAT")"
}

units_may_hold_a_slash() {
  send 'create web/util units=slots-occupied/incidents'
  assert_attribute web util units slots-occupied/incidents
}

units_follow_the_rule_for_names_otherwise() {
  py <<'EOT'
from peer import *
import errno
for units in ("a=b", "u" * 256, "a\x01", "\udcff"):
    text = b"create web/x units=" + units.encode(errors="surrogateescape")
    assert Peer().ask(text)[0] == errno.EINVAL, text
EOT
  assert_eq tallyfs "$(ls "$STAT")"
}
