#include "reference_parser.h"

#include <string.h>

static uint16_t big16(const uint8_t *octets) { return (uint16_t)(octets[0] << 8 | octets[1]); }

static uint32_t big32(const uint8_t *octets) { return (uint32_t)big16(octets) << 16 | big16(octets + 2); }

static int manufacturer_data(const uint8_t *data, size_t count, struct reference_frame *frame) {
    static const uint8_t apple[4] = {0x4C, 0x00, 0x02, 0x15};
    if (count == 25 && memcmp(data, apple, sizeof apple) == 0) {
        frame->kind = REFERENCE_IBEACON;
        memcpy(frame->ibeacon.uuid, data + 4, 16);
        frame->ibeacon.major = big16(data + 20);
        frame->ibeacon.minor = big16(data + 22);
        frame->power = (int8_t)data[24];
        return 1;
    }
    if (count == 26 && data[2] == 0xBE && data[3] == 0xAC) {
        frame->kind = REFERENCE_ALTBEACON;
        frame->altbeacon.company = (uint16_t)(data[1] << 8 | data[0]);
        memcpy(frame->altbeacon.id, data + 4, 20);
        frame->power = (int8_t)data[24];
        frame->altbeacon.reserved = data[25];
        return 1;
    }
    return 0;
}

static int telemetry(const uint8_t *data, size_t count, struct reference_frame *frame) {
    if (count == 14 && data[1] == 0x00) {
        frame->kind = REFERENCE_TLM;
        frame->tlm.battery = big16(data + 2);
        frame->tlm.temperature = (int16_t)big16(data + 4);
        frame->tlm.advertisements = big32(data + 6);
        frame->tlm.uptime = big32(data + 10);
        return 1;
    }
    if (count == 18 && data[1] == 0x01) {
        frame->kind = REFERENCE_ENCRYPTED_TLM;
        memcpy(frame->encrypted_tlm.encrypted, data + 2, 12);
        frame->encrypted_tlm.salt = big16(data + 14);
        frame->encrypted_tlm.check = big16(data + 16);
        return 1;
    }
    return 0;
}

static int eddystone(const uint8_t *data, size_t count, struct reference_frame *frame) {
    switch (data[0]) {
    case 0x00:
        if (count != 20 && count != 18) return 0;
        frame->kind = REFERENCE_UID;
        frame->power = (int8_t)data[1];
        memcpy(frame->uid.namespace_id, data + 2, 10);
        memcpy(frame->uid.instance, data + 12, 6);
        return 1;
    case 0x10:
        if (count < 3 || count > 20) return 0;
        frame->kind = REFERENCE_URL;
        frame->power = (int8_t)data[1];
        frame->url.scheme = data[2];
        frame->url.count = (uint8_t)(count - 3);
        memcpy(frame->url.octets, data + 3, count - 3);
        return 1;
    case 0x20:
        return telemetry(data, count, frame);
    case 0x30:
        if (count != 10) return 0;
        frame->kind = REFERENCE_EID;
        frame->power = (int8_t)data[1];
        memcpy(frame->eid.id, data + 2, 8);
        return 1;
    default:
        return 0;
    }
}

int reference_parse(const uint8_t *octets, size_t count, struct reference_frame *frame) {
    size_t offset = 0;
    while (offset < count) {
        size_t length = octets[offset];
        if (length == 0 || length >= count - offset) break;
        const uint8_t *data = octets + offset + 2;
        size_t data_count = length - 1;
        switch (octets[offset + 1]) {
        case 0xFF:
            if (manufacturer_data(data, data_count, frame)) return 1;
            break;
        case 0x16:
            if (data_count > 2 && data[0] == 0xAA && data[1] == 0xFE && eddystone(data + 2, data_count - 2, frame))
                return 1;
            break;
        }
        offset += 1 + length;
    }
    return 0;
}
