#define _GNU_SOURCE
#include "measurement.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static long long nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int measurement_rotation(const char *path, int milliseconds, int period, long long *cpu) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    unsigned char command[36] = {0x01, 0x08, 0x20, 0x20, 0x1f, 0x02, 0x01, 0x06}, answer[4096];
    int stream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (stream < 0) return errno;
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    if (connect(stream, (struct sockaddr *)&address, sizeof address)) {
        int failure = errno;
        close(stream);
        return failure;
    }
    struct pollfd event = {.fd = stream, .events = POLLIN};
    long long end = nanoseconds(CLOCK_MONOTONIC) + milliseconds * 1000000LL;
    long long before = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    int failure = 0;
    while (!failure && nanoseconds(CLOCK_MONOTONIC) < end) {
        poll(&event, 1, period);
        command[30]++;
        if (write(stream, command, sizeof command) != sizeof command) failure = EPIPE;
        if (poll(&event, 1, 2000) != 1 || read(stream, answer, sizeof answer) <= 0) failure = ETIMEDOUT;
    }
    *cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before;
    close(stream);
    return failure;
}
