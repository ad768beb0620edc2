/*
 * Joins a controller that speaks H4 over TCP to the kernel's virtual HCI device: `vhci_bridge PORT` makes one adapter,
 * which lives as long as the program does.
 *
 * Each read from /dev/vhci is one whole H4 packet, and each write to it must be one. TCP knows no packets, so that
 * direction is framed here by the packets' own length fields.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv) {
    static uint8_t from_kernel[70000], stream[140000];
    const uint8_t create_primary[] = {VENDOR, 0};
    size_t held = 0;

    if (argc != 2) return fprintf(stderr, "usage: vhci_bridge PORT\n"), 64;
    int controller = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(controller, (struct sockaddr *)&address, sizeof address) < 0) give_up("vhci_bridge: connect");
    int kernel = open("/dev/vhci", O_RDWR);
    if (kernel < 0) give_up("vhci_bridge: /dev/vhci");
    write_all(kernel, create_primary, sizeof create_primary);

    struct pollfd sources[] = {{.fd = kernel, .events = POLLIN}, {.fd = controller, .events = POLLIN}};
    while (poll(sources, 2, -1) >= 0) {
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
                write_all(kernel, stream, length);
                memmove(stream, stream + length, held -= length);
            }
        }
    }
    give_up("vhci_bridge: poll");
}
