/*
 * Prints a btsnoop file of `btmon -w` (datalink 2001, the Linux monitor) as text that grep and awk can read:
 * one line for each command and event, `MICROSECONDS hciN command|event HEX`, times since 1970. What the kernel's
 * management tells the programs that listen to it is `told HEX`: four octets that name the listener, then event code and
 * parameters.
 *
 * Nothing is interpreted, so what the tests compare does not depend on the program under test.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const uint64_t EPOCH = 0x00dcddb30f2f8000; /* 1970 on btsnoop's clock, which counts from the year 0 */

static uint64_t big_endian(const uint8_t *octets, int count) {
    uint64_t value = 0;
    while (count-- > 0) value = value << 8 | *octets++;
    return value;
}

int main(int argc, char **argv) {
    uint8_t header[24], packet[65536];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;

    if (!file) return fprintf(stderr, "usage: btsnoop_lines FILE\n"), 66;
    if (fread(header, 16, 1, file) != 1 || memcmp(header, "btsnoop", 8) != 0 || big_endian(header + 12, 4) != 2001)
        return fprintf(stderr, "btsnoop_lines: %s is no capture of the Linux monitor\n", argv[1]), 65;
    while (fread(header, 24, 1, file) == 1) {
        size_t length = big_endian(header + 4, 4);
        unsigned index = (unsigned)big_endian(header + 8, 2), opcode = (unsigned)big_endian(header + 10, 2);
        if (length > sizeof packet || fread(packet, 1, length, file) != length) break;
        const char *kind = opcode == 2 ? "command" : opcode == 3 ? "event" : opcode == 17 ? "told" : NULL;
        if (!kind) continue;
        printf("%" PRIu64 " hci%u %s ", big_endian(header + 16, 8) - EPOCH, index, kind);
        for (size_t i = 0; i < length; i++) printf("%02x", packet[i]);
        putchar('\n');
    }
    return 0;
}
