/*
 * An adapter that can shout: `vhci_flood COUNT` makes one, whose controller answers every command of the kernel's set-up,
 * and writes COUNT advertising reports as fast as the kernel takes them when SIGUSR1 comes. What it has done is told on
 * standard output: `scanning` when it was turned on, `sent COUNT` after a flood.
 *
 * Each read from /dev/vhci is one whole H4 packet, and each write to it must be one. Every report is an iBeacon from an
 * address of its own, so that none can be taken for a repetition.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { COMMAND = 1, EVENT = 4, COMMAND_COMPLETE = 0x0e, LE_META = 0x3e };
enum {
    READ_LOCAL_VERSION = 0x1001,
    READ_LOCAL_FEATURES = 0x1003,
    READ_BUFFER_SIZE = 0x1005,
    READ_BD_ADDR = 0x1009,
    LE_READ_BUFFER_SIZE = 0x2002,
    LE_SET_SCAN_ENABLE = 0x200c,
};

static void give_up(const char *what) {
    perror(what);
    exit(1);
}

static void write_packet(int device, const uint8_t *octets, size_t count) {
    if (write(device, octets, count) != (ssize_t)count) give_up("vhci_flood: write");
}

/* Success, and zeros for whatever the command returns but for what the kernel cannot do without. */
static void answer(int device, const uint8_t *command) {
    uint8_t packet[7 + 68] = {EVENT, COMMAND_COMPLETE, 4, 1, command[1], command[2], 0};
    uint8_t *returned = packet + 7;
    size_t length = 68;
    switch (command[1] | command[2] << 8) {
    case READ_LOCAL_VERSION:
        /* Core 4.0, of nobody. */
        returned[0] = returned[3] = 6;
        returned[4] = returned[5] = 0xff;
        length = 8;
        break;
    case READ_LOCAL_FEATURES:
        /* No BR/EDR, but LE. */
        returned[4] = 0x60;
        length = 8;
        break;
    case READ_BUFFER_SIZE:
        returned[0] = 0xff;
        returned[2] = 64;
        returned[3] = 8;
        length = 7;
        break;
    case READ_BD_ADDR:
        memcpy(returned, "\x01\x02\x03\x04\x05\xc6", 6);
        length = 6;
        break;
    case LE_READ_BUFFER_SIZE:
        returned[0] = 0xfb;
        returned[2] = 8;
        length = 3;
        break;
    case LE_SET_SCAN_ENABLE:
        if (command[4]) puts("scanning");
        length = 0;
        break;
    }
    packet[2] = (uint8_t)(4 + length);
    write_packet(device, packet, 7 + length);
}

/* LE Advertising Report, ADV_NONCONN_IND from a random address: Core Specification, Vol 4 Part E 7.7.65.2. */
static void flood(int device, unsigned long count) {
    static const uint8_t data[30] = {2, 1, 6, 0x1a, 0xff, 0x4c, 0, 2, 0x15, [29] = 0xc5};
    for (unsigned long number = 0; number < count; number++) {
        uint8_t packet[45] = {EVENT, LE_META, 42, 2, 1, 3, 1};
        memcpy(packet + 7, &number, 4);
        packet[12] = 0xc0;
        packet[13] = sizeof data;
        memcpy(packet + 14, data, sizeof data);
        packet[44] = 0xc3;
        write_packet(device, packet, sizeof packet);
    }
    printf("sent %lu\n", count);
}

int main(int count, char **arguments) {
    if (count != 2) {
        fputs("usage: vhci_flood COUNT\n", stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    int device = open("/dev/vhci", O_RDWR);
    if (device < 0) give_up("vhci_flood: /dev/vhci");
    /* Vendor packet, opcode 0: make a primary controller now. */
    write_packet(device, (const uint8_t[]){0xff, 0}, 2);
    struct pollfd ready[2] = {
        {.fd = device, .events = POLLIN},
        {.fd = signalfd(-1, &signals, 0), .events = POLLIN},
    };
    while (poll(ready, 2, -1) > 0) {
        if (ready[1].revents) {
            struct signalfd_siginfo signal;
            if (read(ready[1].fd, &signal, sizeof signal) < 0) give_up("vhci_flood: signal");
            flood(device, strtoul(arguments[1], NULL, 10));
        }
        if (ready[0].revents) {
            uint8_t packet[1024];
            ssize_t length = read(device, packet, sizeof packet);
            if (length < 0) give_up("vhci_flood: read");
            if (length >= 4 && packet[0] == COMMAND) answer(device, packet);
        }
    }
    return 0;
}
