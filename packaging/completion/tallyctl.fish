# fish completion for tallyctl: commands, options as --help names them, names as the mount has them.
set -l commands show top plot heat define ls doctor definitions apply record diff since \
    errors probe check create rm reset undo on off help
set -l probes latency count list add ls rm renew cost

function __tallyctl_command
    for word in (commandline -opc)[2..-1]
        if contains -- $word $argv
            echo $word
            test $word = probe; and __tallyctl_probe latency count list add ls rm renew cost
            return
        end
    end
    echo show
end
# The command of probe, if it was written.
function __tallyctl_probe
    for word in (commandline -opc)[3..-1]
        contains -- $word $argv; and echo $word; and return
    end
end
function __tallyctl_functions
    tallyctl probe list (commandline -opc)[-1] 2>/dev/null |
        string replace -rf '^([A-Za-z_][A-Za-z0-9_]*) .*' '$1'
end
function __tallyctl_probes
    tallyctl probe ls 2>/dev/null | string replace -rf '^([^ ]+/[^ ]+) .*' '$1'
end
function __tallyctl_options
    tallyctl (__tallyctl_command $argv) --help 2>/dev/null |
        string replace -rf '^  (-.,)?(--[a-z-]+).*' '$2'
end
function __tallyctl_names
    set -l word (commandline -ct)
    if string match -q '*/*' -- $word
        tallyctl ls --names (string split -f1 / -- $word) 2>/dev/null
    else
        tallyctl ls --names 2>/dev/null
    end
end

complete -c tallyctl -f
complete -c tallyctl -n "not __fish_seen_subcommand_from $commands" -a "$commands"
complete -c tallyctl -n "string match -q -- '-*' (commandline -ct)" \
    -a "(__tallyctl_options $commands)"
complete -c tallyctl -n "not __fish_seen_subcommand_from apply record diff doctor top probe" \
    -a '(__tallyctl_names)'
complete -c tallyctl \
    -n "__fish_seen_subcommand_from probe; and not __fish_seen_subcommand_from $probes" \
    -a "$probes"
complete -c tallyctl \
    -n '__fish_seen_subcommand_from probe; and __fish_seen_subcommand_from latency count list add' \
    -a '(__tallyctl_functions)' -F
complete -c tallyctl \
    -n '__fish_seen_subcommand_from probe; and __fish_seen_subcommand_from rm renew' \
    -a '(__tallyctl_probes)'
complete -c tallyctl -n '__fish_seen_subcommand_from apply record diff' -F
complete -c tallyctl -n '__fish_seen_subcommand_from help' -a "$commands"
# The values of options. Each is of the commands that have it, so that no other one offers it.
set -g __tallyctl_commands $commands
function __tallyctl_has
    contains -- (string join - (__tallyctl_command $__tallyctl_commands)) $argv
end
function __tallyctl_value
    complete -c tallyctl -n "__tallyctl_has $argv[2]" -l $argv[1] $argv[3..-1]
end
set -l spans 'show top plot heat diff record check'
set -l tables 'show ls diff since errors'
set -l repeated 'show top plot heat record check errors'
complete -c tallyctl -l mount -x -a '(__fish_complete_directories)'
complete -c tallyctl -l color -x -a 'auto always never'
complete -c tallyctl -l theme -x -a 'dark light'
__tallyctl_value store $spans -x -a '(__fish_complete_directories)'
__tallyctl_value last $spans -x -a '30s 5m 1h 1d'
__tallyctl_value at $spans -x
__tallyctl_value vs 'show top plot heat diff' -x -a before
__tallyctl_value from 'show top plot heat ls definitions' -r -F
__tallyctl_value every $repeated -x -a '250ms 1s 10s 1m'
__tallyctl_value count $repeated -x
__tallyctl_value sort $tables -x -a 'name samples rate p50 p99 max change'
__tallyctl_value top $tables -x
__tallyctl_value scale heat -x -a 'log sqrt linear'
__tallyctl_value by 'show plot probe-latency' -x
__tallyctl_value like define -x -a '(__tallyctl_names)'
__tallyctl_value over check -x -a '250ms 1s 10s 1m'
__tallyctl_value for 'check probe-latency probe-count' -x -a '250ms 1s 10s 1m'
__tallyctl_value run check -x -a '(__fish_complete_command)'
__tallyctl_value warn check -x
__tallyctl_value id since -x
__tallyctl_value max-size record -x
__tallyctl_value tiers record -x
__tallyctl_value pid 'probe-latency probe-count probe-list' -x
__tallyctl_value longest probe-latency -x
__tallyctl_value name probe-add -x
functions -e __tallyctl_value
