#ifndef CLIFELINETESTING_INTERNAL_H
#define CLIFELINETESTING_INTERNAL_H

#include "CLifelineTesting.h"

/// The mangled name, to be freed, of the function at `address` in the file `image`, which is loaded at `base`.
char *lifeline_static_symbol(const char *image, const void *base, const void *address);

#endif
