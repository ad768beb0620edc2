// What a measurement needs and Swift cannot do: stand in for malloc, start a program with this one's environment,
// and what the C library shows only to those who ask for its own extensions.
#ifndef MEASUREMENT_H
#define MEASUREMENT_H

#include <sys/types.h>

// Counts every request to the allocator from here to measurement_allocations_end. For one thread.
void measurement_allocations_begin(void);
unsigned long measurement_allocations_end(void);

// Starts arguments[0], its standard output being the descriptor `output`. 0, or errno.
int measurement_spawn(char *const arguments[], int output, pid_t *process);

// Opens a pipe that holds one page and that no other program inherits: 0, or errno.
int measurement_pipe(int *reading, int *writing);

// The bare work of a rotation, in C: for so many milliseconds it replaces the advertising data of the controller behind
// the unix socket at `path` every `period` milliseconds, and takes each answer. The thread's CPU time goes to `cpu`, in
// nanoseconds. 0, or errno.
int measurement_rotation(const char *path, int milliseconds, int period, long long *cpu);

// Keeps the calling thread, and the programs that it starts from here on, on one of the cores that it may use; and lets
// it go again. 0, or errno.
int measurement_pin(void);
int measurement_unpin(void);

// Opens, reads and closes so many files, as fast as C does: `names` are those in `folder`, each ended by a zero. The
// octets that were read, or -1 with errno.
long measurement_read_files(const char *folder, const char *names, int count);

#endif
