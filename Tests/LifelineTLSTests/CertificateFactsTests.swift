import CLifelineTLS
import COpenSSL
import LifelineCore
import Testing

@testable import LifelineTLS

/// What is told about a certificate, whatever stands in it.
@Suite struct CertificateFactsTests {
    /// A certificate that its maker, a peer, has written as it likes.
    private struct Made {
        var subject: [(name: Int32, type: Int32, bytes: [UInt8])] = []
        var serial: [UInt8] = [1]
        var notBefore = "20250101000000Z"
        var notAfter = "21250101000000Z"
        /// SubjectAltName in DER.
        var names: [UInt8]?

        func facts() throws -> TLSCertificate {
            let certificate = try #require(X509_new())
            defer { X509_free(certificate) }
            let number = try #require(serial.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress, Int32($0.count), nil) })
            defer { BN_free(number) }
            BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate))
            // Written as they stand, even where that is no time.
            for (time, text) in [(X509_getm_notBefore(certificate), notBefore), (X509_getm_notAfter(certificate), notAfter)] {
                ASN1_STRING_set(time, text, Int32(text.utf8.count))
                time?.pointee.type = V_ASN1_GENERALIZEDTIME
            }
            for part in subject {
                let result = X509_NAME_add_entry_by_NID(
                    X509_get_subject_name(certificate), part.name, part.type, part.bytes, Int32(part.bytes.count), -1, 0)
                try #require(result == 1)
            }
            if let names {
                let string = try #require(ASN1_OCTET_STRING_new())
                defer { ASN1_OCTET_STRING_free(string) }
                ASN1_OCTET_STRING_set(string, names, Int32(names.count))
                let extra = try #require(X509_EXTENSION_create_by_NID(nil, NID_subject_alt_name, 0, string))
                defer { X509_EXTENSION_free(extra) }
                X509_add_ext(certificate, extra, -1)
            }
            let key = try Protected.identity("ec").key
            return try withExtendedLifetime(key) {
                X509_set_pubkey(certificate, key.pointer)
                try #require(X509_sign(certificate, key.pointer, EVP_sha256()) > 0)
                return TLSCertificate(certificate)
            }
        }
    }

    @Test func `the facts of a certificate`() throws {
        let facts = try Protected.identity().certificate
        #expect(facts.subject == "CN=localhost,O=Lifeline")
        #expect(facts.issuer == "CN=Lifeline test authority,O=Lifeline")
        #expect(facts.names == ["localhost", "127.0.0.1", "::1", "*.wild.test", "chat.example.com"])
        #expect(facts.notBefore == 1_735_689_600)
        #expect(facts.notAfter == 4_891_363_200)
        #expect(facts.fingerprint.utf8.count == 64)
        #expect(facts.publicKeyHash.utf8.count == 44)
        #expect(facts.der.first == 0x30)
        #expect(try Protected.identity("ec").certificate.names == ["localhost", "127.0.0.1", "::1"])
    }

    @Test func `hashes are those that openssl computes`() throws {
        // openssl x509 -fingerprint -sha256, and openssl dgst -sha256 of the public key in DER, for a certificate that doesn't change.
        let identity = try TLSIdentity(certificates: Bytes(Self.fixed), key: Bytes(Self.fixedKey))
        #expect(identity.certificate.fingerprint == Self.fixedFingerprint)
        #expect(identity.certificate.publicKeyHash == Self.fixedPublicKeyHash)
        #expect(identity.certificate.serialNumber == Self.fixedSerialNumber)
    }

    @Test func `a subject's control characters, and what turns the direction of writing, become escapes`() throws {
        let text = Array("a\u{1B}[31m\n\0\u{202E}b,c=d\u{E9}".utf8)
        let subject = try Made(subject: [(NID_commonName, V_ASN1_UTF8STRING, text)]).facts().subject
        #expect(subject == "CN=a\\1B[31m\\0A\\00\\u{202e}b\\,c=d\u{E9}")
    }

    /// How a name of one part is told; nil if OpenSSL doesn't take it.
    private func text(_ type: Int32, _ bytes: [UInt8]) throws -> String? {
        let name = try #require(X509_NAME_new())
        defer {
            X509_NAME_free(name)
            ERR_clear_error()
        }
        guard X509_NAME_add_entry_by_NID(name, NID_commonName, type, bytes, Int32(bytes.count), -1, 0) == 1 else { return nil }
        return TLSCertificate.text(of: name)
    }

    @Test(arguments: [[0xC3], [0xFF, 0xFE], [0xED, 0xA0, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0x6F, 0x6B, 0xC3, 0x28]] as [[UInt8]])
    func `UTF-8 that is none is repaired`(bytes: [UInt8]) throws {
        let text = try #require(try text(V_ASN1_UTF8STRING, bytes))
        #expect(text.hasPrefix("CN="))
        #expect(text.unicodeScalars.contains("\u{FFFD}"))
    }

    @Test(arguments: [V_ASN1_BMPSTRING, V_ASN1_UNIVERSALSTRING, V_ASN1_PRINTABLESTRING, V_ASN1_T61STRING, V_ASN1_IA5STRING])
    func `strings of any type and length are told`(type: Int32) throws {
        var told = 0
        for bytes in [[], [0xD8], [0xD8, 0x00], [0xD8, 0x00, 0xDC, 0x00], [0, 0, 0xFF, 0xFF, 1], [0, 0, 0, 0x1B]] as [[UInt8]] {
            guard let text = try text(type, bytes) else { continue }
            told += 1
            #expect(text.hasPrefix("CN="))
            #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 })
        }
        #expect(told > 0)
    }

    @Test func `long texts are cut off`() throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 100_000)
        let facts = try Made(
            subject: [(NID_commonName, V_ASN1_UTF8STRING, long)], serial: Array(long.prefix(5000)),
            names: Self.dns(Array(long.prefix(60_000)))
        ).facts()
        #expect(facts.subject.utf8.count < 1100 && facts.subject.hasSuffix("x…"))
        #expect(facts.serialNumber.utf8.count < 140 && facts.serialNumber.hasSuffix("78…"))
        #expect(facts.names.count == 1)
        #expect(facts.names[0].utf8.count < 270 && facts.names[0].hasSuffix("x…"))
    }

    @Test func `a peer's certificate takes bounded room in a log`() throws {
        let name = (type: NID_commonName, bytes: Array(String(repeating: "\u{202E}", count: 20_000).utf8))
        let long = Self.tagged(0x82, [UInt8](repeating: 0, count: 200))
        let facts = try Made(
            subject: [(name.type, V_ASN1_UTF8STRING, name.bytes)], names: Self.tagged(0x30, Array(repeatElement(long, count: 300).joined()))
        ).facts()
        #expect(facts.names.count == 300)
        for text in [facts.description, TLSError(.expired, "", certificate: facts).description] {
            #expect(text.utf8.count < 4096)
            #expect(text.contains("… and 292 more, valid from"))
        }
        let few = try Made(names: Self.tagged(0x30, Array("abcdefgh".utf8.map { Self.tagged(0x82, [$0]) }.joined()))).facts()
        #expect(few.description.contains(" for a, b, c, d, e, f, g, h, valid from"))
    }

    @Test func `names that are none are escaped`() throws {
        #expect(try Made(names: Self.dns(Array("a.test\0.evil".utf8))).facts().names == ["a.test\\x00.evil"])
        #expect(try Made(names: Self.dns(Array("a b\u{1B}\\ä".utf8))).facts().names == ["a\\x20b\\x1b\\x5c\\xc3\\xa4"])
        #expect(try Made(names: Self.dns([])).facts().names == [])
        // Addresses of five bytes and of none; names that aren't in DER.
        #expect(try Made(names: [0x30, 7, 0x87, 5, 1, 2, 3, 4, 5]).facts().names == [])
        #expect(try Made(names: [0x30, 2, 0x87, 0]).facts().names == [])
        #expect(try Made(names: [0x30, 0x84, 0xFF, 0xFF]).facts().names == [])
        #expect(try Made(names: []).facts().names == [])
    }

    @Test func `times that are none are told as zero`() throws {
        #expect(try Made(notBefore: "20250101000000Z").facts().notBefore == 1_735_689_600)
        #expect(try Made(notBefore: "19500101000000Z").facts().notBefore == -631_152_000)
        #expect(try Made(notAfter: "99991231235959Z").facts().notAfter == 253_402_300_799)
        for text in ["", "now", "20259901000000Z", "20250101000000"] {
            #expect(try Made(notBefore: text).facts().notBefore == 0)
        }
    }

    private static func dns(_ name: [UInt8]) -> [UInt8] { tagged(0x30, tagged(0x82, name)) }

    private static func tagged(_ tag: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        let count = bytes.count
        return [tag, 0x83, UInt8(count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)] + bytes
    }
}

extension CertificateFactsTests {
    private static let fixed = """
        -----BEGIN CERTIFICATE-----
        MIIBaTCCAQ+gAwIBAgIGCrHC0+T1MAoGCCqGSM49BAMCMBAxDjAMBgNVBAMMBWZp
        eGVkMCAXDTI2MTEzMDE1Mzk0N1oYDzIxMjYxMTA2MTUzOTQ3WjAQMQ4wDAYDVQQD
        DAVmaXhlZDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOZQij/q8fMZBzYUdOwm
        nleFTKqeHeDs+PN/TVPjQ9/2ckHcJ86uI95exuv0lCiPfwZtAtn9fvxg/G8Dc2BR
        gV6jUzBRMB0GA1UdDgQWBBQDZDsztVpBCli3pLPDqZ95s7b9FTAfBgNVHSMEGDAW
        gBQDZDsztVpBCli3pLPDqZ95s7b9FTAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49
        BAMCA0gAMEUCIBvry7/9zrViadXI846jyBcyxD8hXWYN4O7wPVrW2SqIAiEAgxqR
        zgqnnyDHiIUzrZ6GzBkWGIV5JpzSMYjPEfpdb9Y=
        -----END CERTIFICATE-----
        """
    private static let fixedKey = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIDsIjL1odhNrA27EOVRVvy4E2SJvPxYON4U1GqpaI5UxoAoGCCqGSM49
        AwEHoUQDQgAE5lCKP+rx8xkHNhR07CaeV4VMqp4d4Oz4839NU+ND3/ZyQdwnzq4j
        3l7G6/SUKI9/Bm0C2f1+/GD8bwNzYFGBXg==
        -----END EC PRIVATE KEY-----
        """
    private static let fixedFingerprint = "94d251747d7b4bffc159f76939233b1f44a34cd7f6b440619b4797a5654d68fe"
    private static let fixedPublicKeyHash = "oDCSUE9olUl+ZME5f//2QusPc460hqgraPPAoK6af1o="
    private static let fixedSerialNumber = "0ab1c2d3e4f5"
}
