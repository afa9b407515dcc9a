#include <stdint.h>

// lifeline: little-endian; body_length counts body
struct chat_header {
    int32_t version;        // lifeline: == 1
    int32_t main_type;      // what the packet is about; lifeline: in -9...999
    int32_t sub_type;       // in detail, -1 for nothing; lifeline: in -9...999
    uint32_t body_length;
};
