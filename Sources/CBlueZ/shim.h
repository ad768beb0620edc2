// libbluetooth's headers, and what of them Swift cannot import: function-like ioctl macros.
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

#endif
