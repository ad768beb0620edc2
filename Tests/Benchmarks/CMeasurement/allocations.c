// The program's own definitions of the allocator's entrances come before those of the C library, also for the calls
// of the Swift runtime; they count and hand on to glibc's inner names.
#include "measurement.h"

#include <errno.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static volatile int counting;
static volatile unsigned long requests;

static void count(void) {
    if (counting) requests = requests + 1;
}

void measurement_allocations_begin(void) {
    requests = 0;
    counting = 1;
}

unsigned long measurement_allocations_end(void) {
    counting = 0;
    return requests;
}

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    count();
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    count();
    void *memory = __libc_memalign(alignment, size);
    if (!memory) return ENOMEM;
    *result = memory;
    return 0;
}
