// Headers whose layout isn't trivial. They are compiled as C, too, and the bytes are compared.
#ifndef SAMPLES_H
#define SAMPLES_H
#include <stdint.h>

#define NAME_SIZE 10

// Padding between the fields and at the end.
// lifeline: public; big-endian
struct padded_header {
    uint8_t kind;
    uint64_t token;
    char name[NAME_SIZE];    // who sends it; lifeline: as sender
    int16_t levels[3], tail; // lifeline: little-endian
    uint16_t length;         // lifeline: counts rest
    int8_t sign;
};

// lifeline: little-endian; total counts packet; magic == "LF|1"; flags in 0..<16; flags >= 2
struct __attribute__((packed)) packed_header {
    char magic[6];
    unsigned char digest[3];
    signed char deltas[2];
    uint32_t flags;
    long long total;
    char initial;
};

#pragma pack(push, 2)
/* lifeline: little-endian */
typedef struct {
    uint8_t type;       /* lifeline: as default */
    uint64_t input;     /* lifeline: big-endian, > 4 */
    uint32_t output;    /* lifeline: <= 7 */
    uint8_t count;      /* lifeline: counts body */
    uint8_t length;     /* lifeline: < 200 */
    int32_t hasher;     /* lifeline: >= -5 */
    uint16_t element[2];
    int64_t lowest;     /* lifeline: == -9223372036854775808 */
    uint64_t highest;   /* lifeline: == 18446744073709551615 */
} words_header;
#pragma pack(pop)

// lifeline: big-endian; size counts body
struct only_length { uint64_t size; };

// lifeline: little-endian; size counts packet
struct byte_length { uint8_t size; uint8_t kind; };

#endif
