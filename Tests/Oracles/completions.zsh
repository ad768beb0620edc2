# zsh -f completions.zsh DIRECTORY LINE: what zsh offers at the end of LINE with the functions in DIRECTORY, each behind \x01
# on a line of its own.
#
# Completion runs in the line editor alone, so a second zsh has a pseudo-terminal, where the tab key is pressed. What every
# completion ends in is compadd, which is asked for its matches there and writes them down.

complete_and_print() {
    compadd() {
        builtin compadd "$@"
        # A call that fills an array only shows nothing.
        [[ ${@[(I)-[a-zA-Z]#[OAD]]} -eq 0 ]] || return
        local -a hits
        builtin compadd -O hits "$@"
        print -rl -- '' $'\x01'$^hits
    }
    _main_complete
    print -r -- $'\n\x02'
}

if [[ $1 == --inner ]]; then
    PS1=
    fpath=($2 $fpath)
    autoload -U compinit
    compinit -u -d $2/dump
    bindkey '^I' complete-word
    zle -C complete-word complete-word complete_and_print
    print -r -- $'\x03'
else
    zmodload zsh/zpty
    zpty inner zsh -f -i
    zpty -w inner "source ${(q)0:A} --inner ${(q)1}"
    zpty -r inner text $'*\x03'
    zpty -n -w inner "$2"$'\t'
    zpty -r inner text $'*\x02'
    print -r -- "$text"
    zpty -d inner
fi
