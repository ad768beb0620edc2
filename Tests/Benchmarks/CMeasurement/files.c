#define _GNU_SOURCE
#include "measurement.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

long measurement_read_files(const char *folder, const char *names, int count) {
    char octets[256];
    struct stat status;
    long sum = 0;
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return -1;
    for (; count > 0; count--, names += strlen(names) + 1) {
        int file = openat(directory, names, O_RDONLY | O_CLOEXEC);
        long read_count = file < 0 || fstat(file, &status) ? -1 : read(file, octets, sizeof octets);
        if (file >= 0) close(file);
        if (read_count < 0) {
            close(directory);
            return -1;
        }
        sum += read_count;
    }
    close(directory);
    return sum;
}
