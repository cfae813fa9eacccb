# A terminal for tallyctl top, which tmux is.

_tmux() { tmux -S "$CASE/tmux" "$@"; }
_need_terminal() {
  need tmux
  need_utf8
  unset TMUX NO_COLOR
}
# _open COLUMNS ROWS: a shell, with a prompt that nothing else prints.
_open() {
  _tmux -f /dev/null new-session -d -x "$1" -y "$2" \
    "env PS1='ready> ' ENV= PATH='$PATH' TERM=screen-256color sh -i"
  _tmux display -p '#{pid}' >>"$CASE/pids"
  _tmux set -g default-terminal screen-256color
  _sees 'ready>'
}
_screen() { _tmux capture-pane -p "$@"; }
_sees() { wait_until "_screen | grep -qF -- '$1'" || { _screen; return 1; }; }
_sees_not() { wait_until "! _screen | grep -qF -- '$1'"; }
_keys() { _tmux send-keys "$@"; }
_close() { _tmux kill-server; }
