#define _GNU_SOURCE
#include "measurement.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

int measurement_spawn(char *const arguments[], int output, pid_t *process) {
    posix_spawn_file_actions_t actions;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure) return failure;
    failure = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!failure) failure = posix_spawnp(process, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

int measurement_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return errno;
    if (fcntl(ends[1], F_SETPIPE_SZ, 4096) != 4096) {
        int failure = errno;
        close(ends[0]);
        close(ends[1]);
        return failure;
    }
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}
