// Project Nayuki's QR Code generator. Swift cannot import its macros, so they become a constant and a function here.
#ifndef PHAROS_CQRCODE_SHIM_H
#define PHAROS_CQRCODE_SHIM_H

#include <qrcodegen/qrcodegen.h>

/// The size in bytes of each of the two buffers that pharos_qrcode_encode needs.
static const int PHAROS_QRCODE_BUFFER_SIZE = qrcodegen_BUFFER_LEN_MAX;

/// Encodes UTF-8 text in the smallest QR code with at least medium error correction (15 %).
///
/// Returns false when the text is too long for any QR code.
static inline bool pharos_qrcode_encode(const char *text, uint8_t *scratch, uint8_t *code) {
    return qrcodegen_encodeText(
        text, scratch, code, qrcodegen_Ecc_MEDIUM, qrcodegen_VERSION_MIN, qrcodegen_VERSION_MAX,
        qrcodegen_Mask_AUTO, true);
}

#endif
