// What Swift can't say to OpenSSL: macros, callbacks, and the pipe between OpenSSL and a transport.

#ifndef CLIFELINETLS_H
#define CLIFELINETLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/ssl.h>

#include "CLifelineTLSCertificate.h"
#include "CLifelineTLSContext.h"
#include "CLifelineTLSError.h"
#include "CLifelineTLSKeyLog.h"
#include "CLifelineTLSPipe.h"
#include "CLifelineTLSVerify.h"

#endif
