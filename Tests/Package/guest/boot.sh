# shellcheck shell=sh
# What a boot of the guest does: the first one runs first.sh and restarts the box, the second one second.sh. A box that
# is visited waits for what others do to it by ssh.
LAB_NONCE=$(sed -n 's/.*lab\.nonce=\([0-9a-f]*\).*/\1/p' /proc/cmdline)
LAB_ONLY=$(sed -n 's/.*lab\.only=\([^ ]*\).*/\1/p' /proc/cmdline)
export LAB_NONCE LAB_ONLY LAB_MODE=run LAB_RESULTS=/dev/ttyS1
export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
stty -F "$LAB_RESULTS" raw
dmesg -n 1
if grep -q 'lab\.visited' /proc/cmdline; then
    mkdir -p /var/lib/lab
    until systemctl -q is-active ssh && [ -s /var/lib/lab/air.btsnoop ]; do sleep 0.2; done
    touch /run/lab-listens
    until [ -e /run/lab-over ]; do sleep 0.5; done
    echo "LAB $LAB_NONCE end" >"$LAB_RESULTS"
    exec systemctl poweroff --force --force
fi
if [ ! -e /var/lib/lab/restarted ]; then
    sh /lab/first.sh
    touch /var/lib/lab/restarted
    exec systemctl reboot
fi
sh /lab/second.sh
echo "LAB $LAB_NONCE end" >"$LAB_RESULTS"
exec systemctl poweroff --force --force
