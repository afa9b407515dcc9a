// Requests, responses and pushed messages. Network byte order; length is that of the whole packet.
#pragma once
#include <stdint.h>

typedef struct {
    int32_t length;
    int32_t serial;  // pairs a response with its request, 0 = pushed by the server
    int32_t command;
    int32_t code;    // the result, 0 = success
} call_header_t;
