# Guest 5: `pharos run` on adapters that are unplugged, renumbered, powered down, reset, blocked, suspended, and meddled
# with; two controllers that keep time.
. "$LAB/lib.sh"
. "$LAB/adapters.sh"
. "$LAB/advertising.sh"
. "$LAB/timing.sh"
. "$LAB/keeping.sh"

# faults FORM: those that any controller can have.
faults() {
    lab_test "recovery/$air/$1/start" starts "$1"
    lab_test "recovery/$air/$1/unplugged" comes_back "$1" unplugged adapter-gone 'unplugged'
    lab_test "recovery/$air/$1/renumbered" comes_back "$1" renumbered adapter-gone 'unplugged'
    prepare numbers_restored
    lab_test "recovery/$air/$1/reloaded" comes_back "$1" reloaded adapter-gone 'unplugged'
}

# meddling FORM: what other programs and the kernel can do to an adapter that the kernel shares. It blocks no user channel,
# and leaves it alone when the machine goes to sleep.
meddling() {
    lab_test "recovery/$air/$1/down" comes_back "$1" down powered-down 'powered'
    lab_test "recovery/$air/$1/reset" comes_back "$1" reset 'controller-reset|powered-down' hci0
    lab_test "recovery/$air/$1/cleared" comes_back "$1" cleared controller-reset 'hcitool reset the controller'
    lab_test "recovery/$air/$1/blocked" comes_back "$1" blocked rfkill 'rfkill'
    lab_test "recovery/$air/$1/disabled" comes_back "$1" disabled foreign-disabled 'turned advertising off'
    lab_test "recovery/$air/$1/changed" comes_back "$1" changed foreign-changed 'changed the advertising data'
    lab_test "recovery/$air/$1/suspended" comes_back "$1" suspended suspended 'sleep'
}

FAMILY=legacy air=raspberry-pi
prepare air_ready $air
prepare ears_open
faults raw
meddling raw
faults user
lab_test recovery/$air/in-turn frames_in_turn
lab_test recovery/$air/two-adapters two_adapters
lab_test recovery/$air/raw/killed comes_back raw killed adapter-gone 'unplugged'
prepare ears_close
prepare air_close

FAMILY=extended air=intel
prepare air_ready $air
prepare ears_open
faults raw
meddling raw
faults user
