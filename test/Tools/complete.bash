# usage: bash complete.bash FILE WORD...: prints the completions by FILE of the last word, one per line. `--name=value` is three
# words, as in bash.
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
before=${COMP_WORDS[COMP_CWORD-1]}
function=$(complete -p "$1" | sed -E 's/.* -F ([^ ]+) .*/\1/')
"$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "$before"
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
