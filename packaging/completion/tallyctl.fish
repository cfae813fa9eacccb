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
complete -c tallyctl -l mount -x -a '(__fish_complete_directories)'
complete -c tallyctl -n '__fish_seen_subcommand_from show top plot heat diff record' -l store -x \
    -a '(__fish_complete_directories)'
complete -c tallyctl -n '__fish_seen_subcommand_from show top plot heat diff record' -l last -x \
    -a '30s 5m 1h 1d'
complete -c tallyctl -n '__fish_seen_subcommand_from show top plot heat diff' -l vs -x -a before
complete -c tallyctl -n '__fish_seen_subcommand_from show top plot heat diff record' -l at -x
complete -c tallyctl -l color -x -a 'auto always never'
complete -c tallyctl -l theme -x -a 'dark light'
complete -c tallyctl -n '__fish_seen_subcommand_from top show plot heat ls definitions' \
    -l from -r -F
complete -c tallyctl -n '__fish_seen_subcommand_from top show plot heat record' -l every -x \
    -a '250ms 1s 10s 1m'
complete -c tallyctl -n '__fish_seen_subcommand_from heat' -l scale -x -a 'log sqrt linear'
complete -c tallyctl -l sort -x -a 'name samples rate p50 p99 max change'
