// Declarations of Linux that Swift's Glibc module does not have.
#ifndef PHAROS_CLINUX_SHIM_H
#define PHAROS_CLINUX_SHIM_H

#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

// These functions are declared here. If their headers were included, everything else in them would become part of this
// module, and would be missing from Glibc.
extern long syscall(long number, ...);
extern int syncfs(int descriptor);
// Closes all descriptors from `first` on in a program that posix_spawn(3) starts.
extern int posix_spawn_file_actions_addclosefrom_np(void *actions, int first);

static const int PHAROS_SFD_FLAGS = SFD_CLOEXEC | SFD_NONBLOCK;

// The fcntl commands for locks that belong to an open file instead of a process (fcntl_locking(2)).
static const int PHAROS_OFD_GETLK = 36;
static const int PHAROS_OFD_SETLK = 37;

// The three capability sets of a thread, one bit for each capability.
typedef struct {
    uint64_t effective, permitted, inheritable;
} pharos_capability_sets;

// Reads the capability sets of the calling thread with capget(2). The C library declares neither capget nor capset.
static inline int pharos_capget(pharos_capability_sets *sets) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data) < 0) return -1;
    sets->effective = data[0].effective | (uint64_t)data[1].effective << 32;
    sets->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
    sets->inheritable = data[0].inheritable | (uint64_t)data[1].inheritable << 32;
    return 0;
}

// Sets the capability sets of the calling thread with capset(2).
static inline int pharos_capset(pharos_capability_sets sets) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {
        {(uint32_t)sets.effective, (uint32_t)sets.permitted, (uint32_t)sets.inheritable},
        {(uint32_t)(sets.effective >> 32), (uint32_t)(sets.permitted >> 32), (uint32_t)(sets.inheritable >> 32)},
    };
    return (int)syscall(SYS_capset, &header, data);
}

// The following four functions call prctl(2), which Swift cannot call because it has a variable number of arguments.
static inline int pharos_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
static inline int pharos_clear_ambient(void) { return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); }
static inline int pharos_is_bounded(int capability) { return prctl(PR_CAPBSET_READ, capability, 0, 0, 0); }
static inline int pharos_drop_bounded(int capability) { return prctl(PR_CAPBSET_DROP, capability, 0, 0, 0); }

// Returns 0 if the clock is synchronised, 1 if it is not, and -1 with errno if the call is forbidden. It calls
// adjtimex(2) without requesting a change. The structure has 208 bytes, and its fourth long is maxerror in
// microseconds: it grows to 16 s while no program corrects the clock, and becomes 16 s at once when the clock is set.
// The flag STA_UNSYNC is less reliable, because some programs set it only to keep the kernel from writing to the
// hardware clock (RTC).
static inline int pharos_clock_is_unsynchronised(void) {
    long state[64] = {0};
    long result = syscall(SYS_adjtimex, state);
    return result < 0 ? -1 : state[3] >= 16000000;
}

// Opens a timer on the wall clock that never expires, and is cancelled when the clock is set (timerfd_create(2)).
static inline int pharos_clock_watch_open(void) {
    const int realtime = 0, nonblocking = 04000, closeOnExec = 02000000;
    return (int)syscall(SYS_timerfd_create, realtime, nonblocking | closeOnExec);
}

// Starts the timer, or starts it again after the clock was set.
static inline int pharos_clock_watch_arm(int timer) {
    const int absolute = 1, cancelOnSet = 2;
    // The timer expires once, in the year 4147.
    const long never[4] = {0, 0, (long)UINT32_MAX * 16, 0};
    return (int)syscall(SYS_timerfd_settime, timer, absolute | cancelOnSet, never, (void *)0);
}

// Returns the number of processors on which the calling thread may run (sched_getaffinity(2)), or -1. The C library
// declares it only with _GNU_SOURCE.
static inline int pharos_usable_processors(void) {
    unsigned long mask[128];
    long size = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    int count = size < 0 ? -1 : 0;
    for (long index = 0; index < size / (long)sizeof mask[0]; index++) count += __builtin_popcountl(mask[index]);
    return count;
}

// Calls renameat2(2) within one directory, with the flag 1 (RENAME_NOREPLACE) or 2 (RENAME_EXCHANGE). The C library
// declares it, and O_PATH, only with _GNU_SOURCE.
static inline int pharos_rename(int directory, const char *name, const char *other, unsigned flags) {
    return (int)syscall(SYS_renameat2, directory, name, directory, other, flags);
}

// Creates an unnamed file in memory that is closed on exec (memfd_create(2)). The C library declares it only with
// _GNU_SOURCE.
static inline int pharos_memory_file(const char *name) { return (int)syscall(SYS_memfd_create, name, 1u); }

// Calls flock(2) with LOCK_EX | LOCK_NB. In Swift, the structure named flock hides the function.
static inline int pharos_lock_file(int file) { return (int)syscall(SYS_flock, file, 2 | 4); }

static const int PHAROS_O_PATH = 010000000;
static const int PHAROS_AT_FDCWD = -100, PHAROS_AT_REMOVEDIR = 0x200;

#endif
