#define _GNU_SOURCE
#include "measurement.h"

#include <errno.h>
#include <sched.h>

static cpu_set_t before;

int measurement_pin(void) {
    if (sched_getaffinity(0, sizeof before, &before)) return errno;
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int core = CPU_SETSIZE - 1; core >= 0; core--) {
        if (!CPU_ISSET(core, &before)) continue;
        CPU_SET(core, &one);
        break;
    }
    return sched_setaffinity(0, sizeof one, &one) ? errno : 0;
}

int measurement_unpin(void) { return sched_setaffinity(0, sizeof before, &before) ? errno : 0; }
