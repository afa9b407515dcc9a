#include "CLifelineTLSCertificate.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

typedef struct passphrase {
    const char *text;
    size_t count;
    bool is_asked_for;
} passphrase;

/// Without a function of this kind OpenSSL would ask at the terminal.
static int give(char *buffer, int size, int is_writing, void *context) {
    (void)is_writing;
    passphrase *given = context;
    given->is_asked_for = true;
    if (given->text == NULL || size < 0 || given->count > (size_t)size) return -1;
    memcpy(buffer, given->text, given->count);
    return (int)given->count;
}

X509 *llt_read_certificate(BIO *bio) {
    passphrase none = {NULL, 0, false};
    return PEM_read_bio_X509(bio, NULL, give, &none);
}

bool llt_is_end_of_pem(unsigned long error) {
    return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

static bool is_key(const char *label) {
    static const char ending[] = "PRIVATE KEY";
    size_t count = strlen(label);
    return count >= sizeof ending - 1 && strcmp(label + count - (sizeof ending - 1), ending) == 0;
}

/// The first private key in PEM by itself; NULL if there is none.
static BIO *find_key(BIO *bio) {
    char *label = NULL;
    char *header = NULL;
    unsigned char *data = NULL;
    long count = 0;
    BIO *found = NULL;
    bool is_last = false;
    while (!is_last && PEM_read_bio(bio, &label, &header, &data, &count)) {
        is_last = is_key(label);
        if (is_last) found = BIO_new(BIO_s_mem());
        if (found != NULL && PEM_write_bio(found, label, header, data, count) <= 0) {
            BIO_free(found);
            found = NULL;
        }
        OPENSSL_free(label);
        OPENSSL_free(header);
        OPENSSL_clear_free(data, (size_t)count);
    }
    return found;
}

EVP_PKEY *llt_read_key(BIO *bio, const char *text, size_t count, bool *is_encrypted) {
    passphrase given = {text, count, false};
    *is_encrypted = false;
    // OpenSSL would go on to the next key, if it can't make anything of this one or of what it decrypts it to.
    BIO *found = find_key(bio);
    if (found == NULL) return NULL;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(found, NULL, give, &given);
    *is_encrypted = given.is_asked_for;
    BIO_free(found);
    return key;
}

size_t llt_print_name(const X509_NAME *name, char *text, size_t size) {
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio == NULL) return 0;
    if (X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) < 0) {
        // Strings that can't be what they say: then all in hexadecimal.
        (void)BIO_reset(bio);
        X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 | ASN1_STRFLGS_DUMP_ALL);
    }
    char *printed = NULL;
    long count = BIO_get_mem_data(bio, &printed);
    size_t whole = count > 0 ? (size_t)count : 0;
    if (whole > 0) memcpy(text, printed, whole < size ? whole : size);
    BIO_free(bio);
    return whole;
}

GENERAL_NAMES *llt_certificate_names(const X509 *certificate) {
    return X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

int llt_names_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }

enum llt_name_kind llt_names_at(const GENERAL_NAMES *names, int index, const uint8_t **bytes, size_t *count) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    if (name == NULL || (name->type != GEN_DNS && name->type != GEN_IPADD)) return LLT_OTHER_NAME;
    const ASN1_STRING *string = name->type == GEN_DNS ? name->d.dNSName : name->d.iPAddress;
    int length = ASN1_STRING_length(string);
    *bytes = ASN1_STRING_get0_data(string);
    *count = length > 0 ? (size_t)length : 0;
    return name->type == GEN_DNS ? LLT_DNS_NAME : LLT_ADDRESS;
}

bool llt_print_address(const uint8_t *bytes, size_t count, char text[LLT_ADDRESS_SIZE]) {
    if (count != 4 && count != 16) return false;
    return inet_ntop(count == 4 ? AF_INET : AF_INET6, bytes, text, LLT_ADDRESS_SIZE) != NULL;
}

bool llt_is_ipv6(const char *text) {
    struct in6_addr address;
    return inet_pton(AF_INET6, text, &address) == 1;
}

const uint8_t *llt_certificate_serial(const X509 *certificate, size_t *count, bool *is_negative) {
    const ASN1_INTEGER *serial = X509_get0_serialNumber(certificate);
    int length = ASN1_STRING_length(serial);
    *count = length > 0 ? (size_t)length : 0;
    *is_negative = ASN1_STRING_type(serial) == V_ASN1_NEG_INTEGER;
    return ASN1_STRING_get0_data(serial);
}

bool llt_hash(const void *bytes, size_t count, uint8_t hash[LLT_HASH_SIZE]) {
    return EVP_Digest(bytes, count, hash, NULL, EVP_sha256(), NULL) == 1;
}

void llt_free(void *encoded) { OPENSSL_free(encoded); }
