// What the Swift simulation of collisions is measured against: the same buckets, in plain C.
#ifndef COLLISIONS_H
#define COLLISIONS_H

#include <stdint.h>

struct collisions {
    int64_t started; // advertising events that were counted
    int64_t clear;   // those among them that overlapped with no other
};

// `count` advertisers of one interval and airtime (both in µs) on one channel, for `blocks` blocks of one interval
// after a first one that is not counted. Nothing was started where memory lacks or the values do not fit.
struct collisions collisions_simulate(int32_t count, double interval, double airtime, int64_t blocks, uint64_t seed);

#endif
