// The name of this file's Swift would be that of outer-name.h, were it only the path with hyphens.
#include <stdint.h>

// lifeline: big-endian; length counts body
struct in_folder { uint16_t length; };
