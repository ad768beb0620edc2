// What the Swift decoder is measured against: the same frames, read by plain C as a careful programmer writes it.
#ifndef REFERENCE_PARSER_H
#define REFERENCE_PARSER_H

#include <stddef.h>
#include <stdint.h>

enum reference_kind {
    REFERENCE_NONE,
    REFERENCE_IBEACON,
    REFERENCE_ALTBEACON,
    REFERENCE_UID,
    REFERENCE_URL,
    REFERENCE_TLM,
    REFERENCE_ENCRYPTED_TLM,
    REFERENCE_EID,
};

struct reference_frame {
    uint32_t kind; // enum reference_kind
    int8_t power;  // where the frame carries one
    union {
        struct { uint8_t uuid[16]; uint16_t major, minor; } ibeacon;
        struct { uint16_t company; uint8_t id[20], reserved; } altbeacon;
        struct { uint8_t namespace_id[10], instance[6]; } uid;
        struct { uint8_t scheme, count, octets[17]; } url;
        struct { uint16_t battery; int16_t temperature; uint32_t advertisements, uptime; } tlm;
        struct { uint8_t encrypted[12]; uint16_t salt, check; } encrypted_tlm;
        struct { uint8_t id[8]; } eid;
    };
};

// Reads the first frame in `count` octets of advertising data; 0 where there is none.
int reference_parse(const uint8_t *octets, size_t count, struct reference_frame *frame);

#endif
