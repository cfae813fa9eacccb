# Completion of tallyctl in bash, zsh and fish: commands, the options of each, and the names that
# the mount has.

COMPLETION=$here/../../packaging/completion

_set_up() {
  start_daemon
  export TALLY_MOUNT=$MNT PATH=${TALLY_BIN:+$TALLY_BIN:}$PATH
  send 'create web/us on=1' 'create web/hits on=1' 'create db/us on=1'
}
# _offers WORD...: what is offered for the last one, a line each. Of the case's shell.
_offers_what_it_should() {
  assert_eq 'define definitions' "$(_offers tallyctl def | grep '^def' | sort | paste -sd' ')"
  assert_has '--like' "$(_offers tallyctl define --)"
  assert_has_not '--like' "$(_offers tallyctl heat --)"
  assert_has '--scale' "$(_offers tallyctl heat --)"
  assert_eq 'web' "$(_offers tallyctl show w | grep '^w')"
  assert_eq 'web/hits web/us' "$(_offers tallyctl define web/ | grep '^web/' | sort | paste -sd' ')"
  assert_eq 'always' "$(_offers tallyctl show --color al | grep '^al')"
  assert_eq 'latency' "$(_offers tallyctl probe lat | grep '^lat')"
  assert_eq 'renew' "$(_offers tallyctl probe ren | grep '^ren')"
  assert_has '--longest' "$(_offers tallyctl probe latency --)"
  assert_has_not '--longest' "$(_offers tallyctl probe count --)"
  assert_eq 'make_child' "$(_offers tallyctl probe count bash make_ch | grep '^make_child$')"
  assert_eq 'before' "$(_offers tallyctl show --vs be | grep '^be')"
  assert_eq 'samples' "$(_offers tallyctl ls --sort sam | grep '^sam')"
  assert_eq 'define definitions' "$(_offers tallyctl help def | grep '^def' | sort | paste -sd' ')"
  assert_eq '10s' "$(_offers tallyctl check --over 10 | grep '^10')"
  assert_eq 'echo' "$(_offers tallyctl check --run ech | grep '^echo$' | sort -u)"
  mkdir "$CASE/pasts"
  assert_has 'pasts' "$(cd "$CASE" && _offers tallyctl check --store past)"
  # A number is no name.
  local option
  for option in 'show --count' 'show --top' 'check --warn' 'since --id' 'probe latency --pid'; do
    # shellcheck disable=SC2086  # they are words
    assert_eq '' "$(_offers tallyctl $option w | grep '^web' || true)" "after $option"
  done
}

bash_completes() {
  [ -r /usr/share/bash-completion/bash_completion ] || skip 'bash-completion is not installed'
  _offers() {
    bash -c '. /usr/share/bash-completion/bash_completion; . "$0/tallyctl"
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
      _tallyctl tallyctl; printf "%s\n" "${COMPREPLY[@]}"' "$COMPLETION" "$@"
  }
  _offers_what_it_should
}

zsh_completes() {
  need zsh
  # In place of the builtins of completion, which know only a terminal.
  _offers() {
    zsh -fc 'compadd() { [[ $1 == -a ]] && print -l -- ${(P)2} || print -l -- "$@" }
      _files() { print -l -- * }
      _command_names() { print -l -- echo }
      completion=$1; shift
      words=("$@") CURRENT=$# PREFIX=${@[-1]}
      source $completion/_tallyctl' zsh "$COMPLETION" "$@"
  }
  _offers_what_it_should
}

fish_completes() {
  need fish
  export HOME=$CASE
  _offers() {
    fish --no-config -c 'source $argv[1]/tallyctl.fish; complete -C "$argv[2]"' "$COMPLETION" "$*" |
      cut -f1
  }
  _offers_what_it_should
}
