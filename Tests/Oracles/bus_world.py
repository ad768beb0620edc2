"""A /run of its own with a real message bus in it, where the kernel's clock may not be asked, as in a service with
ProtectClock=: `unshare --mount --pid --fork python bus_world.py TIMEDATE PROGRAM ...` runs a program there. Whatever
it starts ends with it.

TIMEDATE says who answers for org.freedesktop.timedate1: `none`; `timedated`, the one of systemd, which the bus starts;
or one of this file, which answers as REPLIES says.
"""
import ctypes
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from jeepney import Endianness, HeaderFields, MessageType, message_bus, new_error, new_method_return
from jeepney.io.blocking import open_dbus_connection

SOCKET = Path("/run/dbus/system_bus_socket")
NAME = "org.freedesktop.timedate1"
TIMEDATED = "/usr/lib/systemd/systemd-timedated"
#: The bodies of the answers: a signature and its values. Seconds to wait stand where it is slow.
REPLIES = {
    "true": ("v", (("b", True),)),
    "false": ("v", (("b", False),)),
    "bare": ("b", (True,)),
    "empty": (None, ()),
    "number": ("v", (("u", 1),)),
    "text": ("v", (("s", "true"),)),
    "nested": ("v", (("v", ("b", True)),)),
    "long": ("v", (("s", "x" * 100_000),)),
    "big-endian": ("v", (("b", True),)),
    "error": (None, ()),
    "slow": ("v", (("b", True),)),
    "silent": (None, ()),
    "leaves": (None, ()),
}


def start_bus(has_timedated: bool) -> subprocess.Popen:
    """A bus as the system's one, without its policies and the helper that starts services as other users."""
    services = Path("/run/services")
    services.mkdir()
    if has_timedated:
        (services / f"{NAME}.service").write_text(f"[D-BUS Service]\nName={NAME}\nExec={TIMEDATED}\n")
    SOCKET.parent.mkdir()
    settings = Path("/run/bus.conf")
    settings.write_text(
        f"<busconfig><type>session</type><listen>unix:path={SOCKET}</listen><auth>EXTERNAL</auth>"
        f"<servicedir>{services}</servicedir><policy context='default'><allow send_destination='*' eavesdrop='true'/>"
        "<allow eavesdrop='true'/><allow own='*'/><allow user='*'/></policy></busconfig>")
    bus = subprocess.Popen(["dbus-daemon", f"--config-file={settings}", "--nofork", "--nopidfile"])
    while not SOCKET.exists():
        assert bus.poll() is None, "dbus-daemon has ended"
        time.sleep(0.01)
    return bus


def answer(kind: str):
    """Owns the name, and answers every question in its own way."""
    connection = open_dbus_connection(f"unix:path={SOCKET}")
    connection.send_and_get_reply(message_bus.RequestName(NAME))

    def reply():
        while True:
            question = connection.receive()
            if question.header.message_type is not MessageType.method_call:
                continue
            if kind == "leaves":
                return connection.close()
            if kind == "silent":
                continue
            assert question.header.fields[HeaderFields.member] == "Get", question
            assert question.body == (NAME, "NTPSynchronized"), question
            if kind == "slow":
                time.sleep(2)
            if kind == "error":
                told = new_error(question, "org.freedesktop.DBus.Error.AccessDenied", "s", ("no",))
            else:
                told = new_method_return(question, *REPLIES[kind])
            if kind == "big-endian":
                told.header.endianness = Endianness.big
            connection.send(told)

    threading.Thread(target=reply, daemon=True).start()


def forbid_the_clock():
    """adjtimex and clock_adjtime end with EPERM from here on."""
    seccomp = ctypes.CDLL("libseccomp.so.2")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    allow, refuse = 0x7FFF0000, 0x00050001
    rules = ctypes.c_void_p(seccomp.seccomp_init(allow))
    for call in (b"adjtimex", b"clock_adjtime"):
        assert seccomp.seccomp_rule_add(rules, refuse, seccomp.seccomp_syscall_resolve_name(call), 0) == 0
    assert seccomp.seccomp_load(rules) == 0


def main():
    kind, *program = sys.argv[1:]
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    bus = start_bus(kind == "timedated")
    try:
        if kind in REPLIES:
            answer(kind)
        elif kind == "timedated":
            # The bus starts timedated at the first question, which may be too slow for that one.
            os.system(f"busctl get-property {NAME} /{NAME.replace('.', '/')} {NAME} NTPSynchronized >&2")
        sys.exit(subprocess.run(program, preexec_fn=forbid_the_clock).returncode)
    finally:
        bus.terminate()
        bus.wait()


if __name__ == "__main__":
    main()
