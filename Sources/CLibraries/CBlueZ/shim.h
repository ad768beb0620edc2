// The headers of libbluetooth, and constants for its ioctl numbers, which are macros with arguments that Swift cannot
// import.
#ifndef PHAROS_CBLUEZ_SHIM_H
#define PHAROS_CBLUEZ_SHIM_H

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/hci_lib.h>

static const unsigned long PHAROS_HCIDEVUP = HCIDEVUP;
static const unsigned long PHAROS_HCIDEVDOWN = HCIDEVDOWN;
static const unsigned long PHAROS_HCIGETDEVLIST = HCIGETDEVLIST;
static const unsigned long PHAROS_HCIGETDEVINFO = HCIGETDEVINFO;
static const unsigned long PHAROS_HCIGETCONNINFO = HCIGETCONNINFO;

// Returns the number of packets that the kernel has dropped because they were not read in time; -1 on kernels before
// Linux 4.12. It is sk_drops in the result of SO_MEMINFO.
static inline long long pharos_lost_packets(int socket) {
    unsigned values[16] = {0};
    socklen_t size = sizeof values;
    const int drops = 8;
    if (getsockopt(socket, SOL_SOCKET, 55 /* SO_MEMINFO */, values, &size) < 0) return -1;
    return size > drops * sizeof values[0] ? (long long)values[drops] : -1;
}

// Receives one packet. Sets `time` to the time at which the kernel received it, in microseconds since 1970 by the wall
// clock; 0 if the kernel does not report it.
static inline long pharos_receive(int socket, void *octets, unsigned long room, long long *time) {
    _Alignas(8) char control[128];
    struct iovec part = {octets, room};
    struct msghdr message = {0};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    *time = 0;
    long count = recvmsg(socket, &message, MSG_DONTWAIT);
    if (count < 0) return count;
    for (struct cmsghdr *note = CMSG_FIRSTHDR(&message); note; note = CMSG_NXTHDR(&message, note)) {
        int isStamp = (note->cmsg_level == SOL_HCI && note->cmsg_type == HCI_CMSG_TSTAMP)
                      || (note->cmsg_level == SOL_SOCKET && note->cmsg_type == SO_TIMESTAMP);
        if (!isStamp || note->cmsg_len < CMSG_LEN(sizeof(struct timeval))) continue;
        struct timeval stamp;
        __builtin_memcpy(&stamp, CMSG_DATA(note), sizeof stamp);
        *time = (long long)stamp.tv_sec * 1000000 + stamp.tv_usec;
    }
    return count;
}

#endif
