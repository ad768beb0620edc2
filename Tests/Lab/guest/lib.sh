# shellcheck shell=sh
# The test harness: planning, running, reporting, without any Bluetooth.
#
# A guest's script calls `lab_test NAME FUNCTION [ARGUMENT…]` for each test. With LAB_MODE=plan the names are printed
# and nothing runs, so that the host knows which tests must be reported. With LAB_MODE=run each test runs in a separate
# shell, in an empty folder, and ends with one line on the results port. The output of a test is its evidence and is
# shown only if it fails.

LAB_LIMIT=120 # seconds for one test
LAB_EVIDENCE=60 # lines that are shown of a test that failed
started=0

say() { echo "LAB $LAB_NONCE $*" >"$LAB_RESULTS"; }

# planned NAME: succeeds if the test is to run.
planned() {
    # shellcheck disable=SC2254 # a pattern is what is wanted
    case $1 in ${LAB_ONLY:-*}) true ;; *) false ;; esac
}

# lab_test NAME FUNCTION [ARGUMENT…]
lab_test() {
    name=$1
    shift
    planned "$name" || return 0
    if [ "$LAB_MODE" = plan ]; then
        echo "$name"
        return 0
    fi
    if type before_test >/dev/null 2>&1; then before_test; fi
    WORK=/tmp/work/$name
    mkdir -p "$WORK" && cd "$WORK" || return
    : >.background
    (set -u; "$@") >.evidence 2>&1 </dev/null &
    test_pid=$!
    (sleep "$LAB_LIMIT" && kill -9 "$test_pid") 2>/dev/null &
    watchdog=$!
    wait "$test_pid"
    status=$?
    kill "$watchdog"
    # shellcheck disable=SC2046 # a list of process ids
    kill -9 $(cat .background) 2>/dev/null
    report_result "$status"
    cd /root || return
}

report_result() {
    if [ "$1" = 0 ]; then
        say "ok $name"
    elif [ -f .skipped ]; then
        say "skip $name: $(cat .skipped)"
    else
        tail -n "$LAB_EVIDENCE" .evidence | cut -c 1-300 | while IFS= read -r line; do say "evidence $name| $line"; done
        case $1 in
        137) say "not ok $name: no end within $LAB_LIMIT s" ;;
        *) say "not ok $name: $(cat .why 2>/dev/null || echo "status $1")" ;;
        esac
    fi
}

# prepare COMMAND…: runs a command that a guest's tests need before they start; not while planning.
prepare() {
    if [ "$LAB_MODE" != plan ]; then "$@"; fi
}

fail() {
    echo "$*" >.why
    exit 1
}

skip() {
    echo "$*" >.skipped
    exit 1
}

# background FILE COMMAND…: starts a program whose output goes to FILE; its process id is left in $started, and it is
# ended with the test. FILE is emptied at once, so that a wait for a line does not find that of an earlier program.
background() {
    output=$1
    shift
    : >"$output"
    "$@" >"$output" 2>&1 &
    started=$!
    if [ -f .background ]; then echo "$started" >>.background; fi
}

# eventually SECONDS COMMAND…: tries the command every tenth of a second until it succeeds.
eventually() {
    tries=$(($1 * 10))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.1
    done
}

# stop PID [SIGNAL]: ends a program of this test and waits for it; returns its exit status.
stop() {
    kill -"${2:-INT}" "$1" 2>/dev/null
    wait "$1"
}

# shows FILE WHAT…: the file must contain all the words, in upper or lower case.
shows() {
    file=$1
    shift
    for word in "$@"; do
        grep -qiF -e "$word" "$file" || {
            cat "$file"
            fail "$file does not say: $word"
        }
    done
}

# expect_exit STATUS OUTPUT COMMAND…: the command must end with that status.
expect_exit() {
    expected=$1
    output=$2
    shift 2
    "$@" >"$output" 2>&1
    actual=$?
    echo "\$ $* -> $actual"
    cat "$output"
    [ "$actual" = "$expected" ] || fail "exit status $actual, not $expected"
}

# equal WHAT EXPECTED ACTUAL
equal() {
    echo "$1: $3"
    [ "$2" = "$3" ] || fail "$1 is '$3', not '$2'"
}
