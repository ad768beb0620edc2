// What of the C library's Linux part Swift's Glibc module leaves out.
#ifndef PHAROS_CLINUX_SHIM_H
#define PHAROS_CLINUX_SHIM_H

#include <sys/signalfd.h>

static const int PHAROS_SFD_FLAGS = SFD_CLOEXEC | SFD_NONBLOCK;

#endif
