# bash completion for lp: commands, flags, and the names of runs and nodes.
_lp() {
  local IFS=$'\n'
  mapfile -t COMPREPLY < <(lp complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _lp lp
