#include "collisions.h"

#include <math.h>
#include <stdlib.h>

enum { LANES = 16, CARRIED = 2, NO_START = 1 << 30 };

static const double max_delay = 10000;

// xoshiro128+ (public domain), sixteen of it, so that the compiler vectorises the draws.
struct generators { uint32_t a[LANES], b[LANES], c[LANES], d[LANES]; };

static uint64_t split_mix(uint64_t *state) {
    uint64_t mixed = *state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

static double unit(uint64_t *state) { return (double)(split_mix(state) >> 11) * 0x1p-53; }

struct timeline {
    int32_t count, padded, buckets, slots, bits, airtime, interval, block;
    float delay_scale;
    int32_t *next, *earliest, *latest;
    struct generators generators;
};

static void enter(const struct timeline *line) {
    for (int32_t i = 0; i < line->count; i++) {
        int32_t start = line->next[i];
        int32_t *earliest = line->earliest + CARRIED + (start >> line->bits);
        int32_t *latest = line->latest + CARRIED + (start >> line->bits);
        int32_t more = *latest + 1; // equal starts are not one start
        *earliest = start < *earliest ? start : *earliest;
        *latest = start > more ? start : more;
    }
}

static int64_t advance(struct timeline *line) {
    int32_t due[LANES] = {0}, *next = line->next;
    const int32_t interval = line->interval, block = line->block;
    const float scale = line->delay_scale;
    struct generators g = line->generators;
    for (int32_t i = 0; i < line->padded; i += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            uint32_t draw = g.a[lane] + g.d[lane], shifted = g.b[lane] << 9;
            g.c[lane] ^= g.a[lane];
            g.d[lane] ^= g.b[lane];
            g.b[lane] ^= g.c[lane];
            g.a[lane] ^= g.d[lane];
            g.c[lane] ^= shifted;
            g.d[lane] = g.d[lane] << 11 | g.d[lane] >> 21;
            int32_t delay = (int32_t)((float)(int32_t)(draw >> 8) * scale);
            int32_t is_due = (next[i + lane] - block) >> 31;
            next[i + lane] += ((interval + delay) & is_due) - block;
            due[lane] -= is_due;
        }
    line->generators = g;
    for (int32_t i = line->count; i < line->padded; i++) next[i] = block; // nobody's
    int64_t started = 0;
    for (int lane = 0; lane < LANES; lane++) started += due[lane];
    return started;
}

static int64_t count_clear(const struct timeline *line) {
    const int32_t *earliest = line->earliest, *latest = line->latest, airtime = line->airtime;
    int32_t clear = 0;
    for (int32_t i = 1; i <= line->buckets; i++) {
        int32_t crowded = (int32_t)((uint32_t)earliest[i] - (uint32_t)latest[i]); // negative, or the bucket is empty
        int32_t before = earliest[i] - airtime - latest[i - 1], behind = earliest[i + 1] - airtime - latest[i];
        clear += (int32_t)((uint32_t) ~(crowded | before | behind) >> 31);
    }
    return clear;
}

static void carry_over(struct timeline *line) {
    for (int32_t i = 0; i < CARRIED; i++) {
        int32_t first = line->earliest[line->buckets + i], last = line->latest[line->buckets + i];
        line->earliest[i] = first == NO_START ? first : first - line->block;
        line->latest[i] = last == -NO_START ? last : last - line->block;
    }
    for (int32_t i = CARRIED; i < line->buckets + CARRIED; i++) line->earliest[i] = NO_START;
    for (int32_t i = CARRIED; i < line->buckets + CARRIED; i++) line->latest[i] = -NO_START;
}

struct collisions collisions_simulate(int32_t count, double interval, double airtime, int64_t blocks, uint64_t seed) {
    struct collisions result = {0, 0};
    double shortest = interval / airtime, longest = (interval + max_delay) / airtime;
    if (count < 1 || count > 1 << 24 || !(shortest >= 1) || !(shortest + longest < 0x1p18)) return result;
    struct timeline line = {.count = count, .padded = (count + LANES - 1) / LANES * LANES, .bits = 20};
    while ((shortest + longest) * (1 << line.bits) >= NO_START) line.bits--;
    line.buckets = (int32_t)shortest;
    line.airtime = 1 << line.bits;
    line.interval = (int32_t)(shortest * line.airtime);
    line.block = line.buckets << line.bits;
    line.delay_scale = (float)(max_delay / airtime * line.airtime * 0x1p-24);
    line.slots = (int32_t)longest + 1 + CARRIED;
    line.next = malloc(sizeof(int32_t) * (size_t)line.padded);
    line.earliest = malloc(sizeof(int32_t) * (size_t)line.slots);
    line.latest = malloc(sizeof(int32_t) * (size_t)line.slots);
    if (line.next && line.earliest && line.latest) {
        for (int32_t i = 0; i < line.slots; i++) line.earliest[i] = NO_START, line.latest[i] = -NO_START;
        for (int32_t i = 0; i < line.padded; i++) {
            double square = shortest * shortest + unit(&seed) * (longest * longest - shortest * shortest);
            line.next[i] = i < count ? (int32_t)(sqrt(square) * unit(&seed) * line.airtime) : line.block;
        }
        for (int lane = 0; lane < LANES; lane++) {
            uint64_t upper = split_mix(&seed), lower = split_mix(&seed);
            line.generators.a[lane] = (uint32_t)upper | 1; // never zeros only
            line.generators.b[lane] = (uint32_t)(upper >> 32);
            line.generators.c[lane] = (uint32_t)lower;
            line.generators.d[lane] = (uint32_t)(lower >> 32);
        }
        for (int64_t block = 0; block <= blocks; block++) {
            enter(&line);
            int64_t started = advance(&line), clear = count_clear(&line);
            carry_over(&line);
            if (block > 0) result.started += started, result.clear += clear;
        }
    }
    free(line.next), free(line.earliest), free(line.latest);
    return result;
}
