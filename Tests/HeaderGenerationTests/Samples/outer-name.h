// See outer/name.h.
#include <stdint.h>

// lifeline: big-endian; length counts body
struct beside_folder { uint32_t length; };
