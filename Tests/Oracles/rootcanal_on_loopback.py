"""Runs rootcanal in a separate network namespace, and passes connections to loopback ports on to it.

rootcanal listens on every address of the machine and has no option against that. So it gets a network namespace of
its own; two listening sockets of the outside, made before, are handed in by their descriptors:
`unshare --net python THIS EXTENDED LEGACY PROGRAM`. A connection to the first is a controller with extended
advertising, one to the second a controller without; all are on one air. Prints `listening` once rootcanal answers.
"""
import ctypes
import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

EXTENDED, LEGACY = 6402, 6412
CONFIGURATION = f"""
tcp_server {{ tcp_port: {EXTENDED} configuration {{ }} }}
tcp_server {{ tcp_port: {LEGACY} configuration {{ features {{ le_extended_advertising: false }} }} }}
"""
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
PR_SET_PDEATHSIG = 1


def raise_loopback():
    with socket.socket() as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack_from("h", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request), 16)[0]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def connected(port: int) -> socket.socket:
    inside = socket.create_connection(("127.0.0.1", port))
    inside.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return inside


def pump(source: socket.socket, sink: socket.socket):
    """Relays one direction. Acknowledges at once: rootcanal sends each packet in two writes, and the second would
    wait for a delayed acknowledgement, 40 ms a packet."""
    try:
        source.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        while octets := source.recv(65536):
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            sink.sendall(octets)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(door: socket.socket, port: int):
    while True:
        outside = door.accept()[0]
        outside.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        inside = connected(port)
        for pair in ((outside, inside), (inside, outside)):
            threading.Thread(target=pump, args=pair, daemon=True).start()


def main():
    doors, program = [socket.socket(fileno=int(descriptor)) for descriptor in sys.argv[1:3]], sys.argv[3]
    raise_loopback()
    child = subprocess.Popen(
        [program, "-test_port", "6401", "-link_port", "6403", "-link_ble_port", "6404",
         "-configuration", CONFIGURATION],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
    for _ in range(100):
        if child.poll() is not None:
            sys.exit(f"rootcanal ended with {child.returncode}")
        try:
            connected(EXTENDED).close()
            connected(LEGACY).close()
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    else:
        sys.exit("rootcanal does not listen")
    signal.signal(signal.SIGTERM, lambda *_: child.kill())
    threading.Thread(target=lambda: os._exit(128 + (child.wait() & 0x7F)), daemon=True).start()
    print("listening", flush=True)
    threading.Thread(target=serve, args=(doors[0], EXTENDED), daemon=True).start()
    serve(doors[1], LEGACY)


if __name__ == "__main__":
    main()
