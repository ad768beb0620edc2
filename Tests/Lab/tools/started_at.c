/*
 * `started_at FILE PROGRAM ARGUMENT…` writes the time (microseconds since 1970) to FILE and becomes the program,
 * so that a capture's times can be compared with the instant at which the program began.
 */
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct timeval now;
    FILE *file = argc > 2 ? fopen(argv[1], "w") : NULL;

    if (!file) return fprintf(stderr, "usage: started_at FILE PROGRAM ARGUMENT...\n"), 64;
    gettimeofday(&now, NULL);
    fprintf(file, "%lld\n", now.tv_sec * 1000000LL + now.tv_usec);
    fclose(file);
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
