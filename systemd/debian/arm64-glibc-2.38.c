/* Functions of glibc 2.38 that the libraries of Debian's Swift 6.2.3 call, and that glibc 2.36 of Debian 12 lacks. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
long __isoc23_strtol(const char *s, char **end, int base) { return strtol(s, end, base); }
long long __isoc23_strtoll(const char *s, char **end, int base) { return strtoll(s, end, base); }
int __isoc23_sscanf(const char *s, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int count = vsscanf(s, format, list);
    va_end(list);
    return count;
}
size_t strlcpy(char *to, const char *from, size_t room) {
    size_t length = strlen(from);
    if (room) {
        size_t kept = length < room ? length : room - 1;
        memcpy(to, from, kept);
        to[kept] = 0;
    }
    return length;
}
