import Foundation
import LifelineCore
import Testing

@testable import LifelineTLS

/// Reading certificates and keys.
@Suite struct IdentityTests {
    private func bytes(_ file: String) throws -> Bytes { Bytes(try Data(contentsOf: URL(fileURLWithPath: Protected.path(file)))) }

    private func refuses(_ words: String, _ make: () throws -> TLSIdentity) {
        #expect {
            try make()
        } throws: { error in
            guard let error = error as? SocketError else { return false }
            return error.code == .invalidSetting && error.message.contains(words) && !error.description.contains("PRIVATE")
        }
    }

    @Test func `files and memory are the same`() throws {
        let file = try Protected.identity()
        let memory = try TLSIdentity(certificates: bytes("server.pem"), key: bytes("server.key"))
        #expect(file.certificate == memory.certificate)
        #expect(file.certificate.subject == "CN=localhost,O=Lifeline")
    }

    @Test func `the key may stand in the file of the certificates, before or behind them`() throws {
        let certificates = try bytes("chain.pem")
        let key = try bytes("leaf.key")
        for both in [Bytes(Array(certificates) + Array(key)), Bytes(Array(key) + Array(certificates))] {
            let identity = try TLSIdentity(certificates: both, key: both)
            #expect(identity.certificate.subject == "CN=leaf,O=Lifeline")
            #expect(identity.chain.count == 2)
        }
    }

    @Test func `an encrypted key needs its passphrase, and nobody is asked for it`() throws {
        let path = Protected.path("server.pem")
        let keyPath = Protected.path("encrypted.key")
        let identity = try TLSIdentity(certificatesAtPath: path, keyAtPath: keyPath, passphrase: "secret")
        #expect(try Link(Protected.client(), TLSServer(.init(identity: identity))).run().areBothThrough)
        refuses("no passphrase") { try TLSIdentity(certificatesAtPath: path, keyAtPath: keyPath) }
        for wrong in ["wrong-one", "", "secret ", String(repeating: "x", count: 5000)] {
            refuses("can't be decrypted with this passphrase") {
                try TLSIdentity(certificatesAtPath: path, keyAtPath: keyPath, passphrase: wrong)
            }
        }
        // One that isn't needed does no harm.
        _ = try TLSIdentity(certificatesAtPath: path, keyAtPath: Protected.path("server.key"), passphrase: "secret")
    }

    @Test func `behind a key that is of no use no other is taken`() throws {
        let encrypted = try Bytes(Array(bytes("encrypted.key")) + Array(bytes("a.key")))
        refuses("can't be decrypted") { try TLSIdentity(certificates: bytes("a.pem"), key: encrypted, passphrase: "wrong") }
        refuses("no passphrase") { try TLSIdentity(certificates: bytes("a.pem"), key: encrypted) }
        // PKCS #8 with an algorithm that nobody knows: as what a wrong passphrase makes of a key, now and then.
        let unknown = "-----BEGIN PRIVATE KEY-----\nMA0CAQAwBQYDKgMEBAEA\n-----END PRIVATE KEY-----\n"
        let both = try Bytes(Array(unknown.utf8) + Array(bytes("a.key")))
        refuses("no private key that can be understood") { try TLSIdentity(certificates: bytes("a.pem"), key: both) }
    }

    @Test func `a wrong passphrase is never repeated`() throws {
        do {
            _ = try TLSIdentity(certificates: bytes("server.pem"), key: bytes("encrypted.key"), passphrase: "hunter-two")
            Issue.record("it was taken")
        } catch {
            #expect(!"\(error)".contains("hunter"))
        }
    }

    @Test func `the key has to be the certificate's`() throws {
        refuses("isn't that of") { try TLSIdentity(certificates: bytes("server.pem"), key: bytes("a.key")) }
        refuses("isn't that of") { try TLSIdentity(certificates: bytes("server.pem"), key: bytes("ec.key")) }
        // An authority's certificate in front of one's own.
        let turned = Bytes(try Array(bytes("intermediate.pem")) + Array(bytes("leaf.pem")))
        refuses("isn't that of") { try TLSIdentity(certificates: turned, key: bytes("leaf.key")) }
    }

    @Test func `what can't be read is named`() throws {
        refuses("nowhere.pem") { try TLSIdentity(certificatesAtPath: "/nowhere.pem", keyAtPath: Protected.path("server.key")) }
        refuses("nowhere.key") { try TLSIdentity(certificatesAtPath: Protected.path("server.pem"), keyAtPath: "/nowhere.key") }
        refuses("can't be read") {
            try TLSIdentity(certificatesAtPath: Protected.path("server.pem\0"), keyAtPath: Protected.path("server.key"))
        }
        refuses("no certificate") { try TLSIdentity(certificatesAtPath: Protected.path(""), keyAtPath: Protected.path("server.key")) }
        refuses("no certificate") { try TLSIdentity(certificates: Bytes(), key: bytes("server.key")) }
        refuses("no certificate") { try TLSIdentity(certificates: bytes("server.key"), key: bytes("server.key")) }
        refuses("no private key") { try TLSIdentity(certificates: bytes("server.pem"), key: Bytes()) }
        refuses("no private key") { try TLSIdentity(certificates: bytes("server.pem"), key: bytes("server.pem")) }
    }

    @Test func `a certificate that is broken isn't passed over`() throws {
        let good = try Array(bytes("server.pem"))
        let cut = good.prefix(300) + Array("\n-----END CERTIFICATE-----\n".utf8)
        refuses("certificate 1") { try TLSIdentity(certificates: Bytes(cut), key: bytes("server.key")) }
        refuses("certificate 2") { try TLSIdentity(certificates: Bytes(good + cut), key: bytes("server.key")) }
        refuses("certificate 2") { try TLSIdentity(certificates: Bytes(good + good.prefix(300)), key: bytes("server.key")) }
        let trust = TLSTrust.authorities(Bytes(try Array(bytes("ca.pem")) + cut))
        #expect { try TLSClient(.init(trust: trust)) } throws: { ($0 as? SocketError)?.code == .invalidSetting }
    }

    @Test func `authorities that can't be read are an invalid setting`() throws {
        for trust in [TLSTrust.authorities(atPath: "/nowhere.pem"), .authorities(Bytes()), .authorities(try bytes("server.key"))] {
            #expect { try TLSClient(.init(trust: trust)) } throws: { ($0 as? SocketError)?.code == .invalidSetting }
            #expect { try Protected.server { $0.clientCertificates = .optional(trust) } } throws: {
                ($0 as? SocketError)?.code == .invalidSetting
            }
        }
    }

    @Test func `authorities come from memory, too, and more than one`() throws {
        let both = Bytes(try Array(bytes("other-ca.pem")) + Array(bytes("ca.pem")))
        let client = try Protected.client { $0.trust = .authorities(both) }
        #expect(try Link(client, Protected.server()).run().areBothThrough)
        #expect(try Link(client, Protected.server("other")).run().areBothThrough)
    }
}
