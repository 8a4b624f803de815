# usage: zsh -f complete.zsh FOLDER LINE...: types each line and a tab into a zsh that finds completions in FOLDER, and prints the
# completed line.
zmodload zsh/zpty
export COLUMNS=200 TERM=dumb
zpty shell zsh -f -i
zpty -w shell "PS1= PS2= RPS1=; unsetopt zle_bracketed_paste 2>/dev/null; fpath=($1 \$fpath)"
zpty -w shell 'autoload -Uz compinit; compinit -u -D; show() { print -r -- "<$BUFFER>"; BUFFER=; zle accept-line }'
zpty -w shell 'zle -N show; bindkey "^X" show; print rea""dy'
shift
until_matches() { # PATTERN: reads the output of the shell, for 20 seconds at most
  local part
  seen=
  repeat 400; do
    zpty -r -t shell part && seen+=$part && [[ $seen == ${~1} ]] && return
    sleep 0.05
  done
  print -u2 "no $1 in: $seen"
  exit 1
}
until_matches '*ready*'
for line; do
  zpty -w -n shell "$line"$'\t\C-x'
  until_matches '*<*>*'
  print -r -- "${${seen##*<}%%>*}"
done
zpty -d shell
