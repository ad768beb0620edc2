/*
 * Joins a controller that speaks H4 over TCP to the kernel's virtual HCI device: `vhci_bridge PORT` makes one adapter,
 * which lives as long as the program does.
 *
 * Each read from /dev/vhci is one whole H4 packet, and each write to it must be one. TCP knows no packets, so that
 * direction is framed here by the packets' own length fields.
 *
 * SIGUSR1 unplugs the adapter and SIGUSR2 plugs it in again, with the same controller and so the same address; each
 * connection would give another one. Unplugged it is reset, as one that has lost its power.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { COMMAND = 1, ACL = 2, SCO = 3, EVENT = 4, ISO = 5, VENDOR = 0xff };

static void give_up(const char *what) {
    perror(what);
    exit(1);
}

static void write_all(int descriptor, const uint8_t *octets, size_t count) {
    while (count > 0) {
        ssize_t written = write(descriptor, octets, count);
        if (written <= 0) give_up("vhci_bridge: write");
        octets += written;
        count -= (size_t)written;
    }
}

/* The length of the packet that starts at `octets`, or 0 while its header is not complete. */
static size_t packet_length(const uint8_t *octets, size_t count) {
    switch (octets[0]) {
    case EVENT: return count < 3 ? 0 : 3 + (size_t)octets[2];
    case SCO: return count < 4 ? 0 : 4 + (size_t)octets[3];
    case ACL: return count < 5 ? 0 : 5 + (size_t)(octets[3] | octets[4] << 8);
    case ISO: return count < 5 ? 0 : 5 + (size_t)(octets[3] | (octets[4] & 0x3f) << 8);
    default: fprintf(stderr, "vhci_bridge: packet type %02x from the controller\n", octets[0]); exit(1);
    }
}

static int plug_in(void) {
    const uint8_t create_primary[] = {VENDOR, 0};
    int kernel = open("/dev/vhci", O_RDWR);

    if (kernel < 0) give_up("vhci_bridge: /dev/vhci");
    write_all(kernel, create_primary, sizeof create_primary);
    return kernel;
}

static int changes_of_plug(void) {
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGUSR2);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, 0);
}

int main(int argc, char **argv) {
    static uint8_t from_kernel[70000], stream[140000];
    const uint8_t reset[] = {COMMAND, 0x03, 0x0c, 0};
    size_t held = 0;

    if (argc != 2) return fprintf(stderr, "usage: vhci_bridge PORT\n"), 64;
    int controller = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(controller, (struct sockaddr *)&address, sizeof address) < 0) give_up("vhci_bridge: connect");
    int kernel = plug_in();
    int changes = changes_of_plug();
    struct pollfd sources[] = {
        {.fd = kernel, .events = POLLIN}, {.fd = controller, .events = POLLIN}, {.fd = changes, .events = POLLIN}};
    while (poll(sources, 3, -1) >= 0) {
        if (sources[2].revents) {
            struct signalfd_siginfo signal;
            if (read(changes, &signal, sizeof signal) != sizeof signal) give_up("vhci_bridge: signal");
            if (signal.ssi_signo == SIGUSR2 && kernel < 0) {
                sources[0].fd = kernel = plug_in();
            } else if (signal.ssi_signo == SIGUSR1 && kernel >= 0) {
                close(kernel);
                sources[0].fd = kernel = -1;
                write_all(controller, reset, sizeof reset);
            }
            continue;
        }
        if (sources[0].revents) {
            ssize_t count = read(kernel, from_kernel, sizeof from_kernel);
            if (count <= 0) give_up("vhci_bridge: read from /dev/vhci");
            /* The answer to create_primary carries the adapter's number; the controller has no use for it. */
            if (from_kernel[0] != VENDOR) write_all(controller, from_kernel, (size_t)count);
        }
        if (sources[1].revents) {
            ssize_t count = read(controller, stream + held, sizeof stream - held);
            if (count <= 0) give_up("vhci_bridge: the controller is gone");
            held += (size_t)count;
            size_t length;
            while (held > 0 && (length = packet_length(stream, held)) > 0 && length <= held) {
                /* The kernel refuses packets while the adapter is down. */
                if (kernel >= 0 && write(kernel, stream, length) < 0 && errno != ENXIO) give_up("vhci_bridge: /dev/vhci");
                memmove(stream, stream + length, held -= length);
            }
        }
    }
    give_up("vhci_bridge: poll");
}
