// Certificates and keys: reading them, and what stands in them.

#ifndef CLIFELINETLSCERTIFICATE_H
#define CLIFELINETLSCERTIFICATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/x509v3.h>

/// Reads a certificate in PEM; NULL if there is none or it can't be read, with the errors in the queue.
X509 *llt_read_certificate(BIO *bio);
/// Whether an error says that no more text in PEM follows.
bool llt_is_end_of_pem(unsigned long error);
/// Reads the first private key in PEM; NULL if it can't be read, whatever follows it. `passphrase` may be NULL; nobody is asked for it. `is_encrypted` says whether one is needed.
EVP_PKEY *llt_read_key(BIO *bio, const char *passphrase, size_t count, bool *is_encrypted);

/// Writes a distinguished name (RFC 2253) in UTF-8, or what its maker takes for it. Returns its whole size; no more than `size` bytes of it are
/// written.
size_t llt_print_name(const X509_NAME *name, char *text, size_t size);

enum llt_name_kind { LLT_OTHER_NAME, LLT_DNS_NAME, LLT_ADDRESS };
int llt_names_count(const GENERAL_NAMES *names);
/// The name at an index: a DNS name in its bytes, or an IP address of 4 or 16.
enum llt_name_kind llt_names_at(const GENERAL_NAMES *names, int index, const uint8_t **bytes, size_t *count);
/// The names that a certificate is good for, to be freed; NULL if there are none.
GENERAL_NAMES *llt_certificate_names(const X509 *certificate);

enum { LLT_ADDRESS_SIZE = 46 };
/// An IP address of 4 or 16 bytes in its usual form, with a zero byte behind it.
bool llt_print_address(const uint8_t *bytes, size_t count, char text[LLT_ADDRESS_SIZE]);

/// Whether a text is an IPv6 address, without a zone.
bool llt_is_ipv6(const char *text);

/// The serial number's bytes, the highest first.
const uint8_t *llt_certificate_serial(const X509 *certificate, size_t *count, bool *is_negative);

enum { LLT_HASH_SIZE = 32 };
/// SHA-256.
bool llt_hash(const void *bytes, size_t count, uint8_t hash[LLT_HASH_SIZE]);

/// Frees what OpenSSL has encoded.
void llt_free(void *encoded);

#endif
