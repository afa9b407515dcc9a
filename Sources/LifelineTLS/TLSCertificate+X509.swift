import CLifelineTLS
import COpenSSL
import LifelineCore

extension TLSCertificate {
    private static let longestName = 1024
    private static let longestDNSName = 255
    private static let longestSerialNumber = 64

    /// The facts of a certificate of OpenSSL's. Whatever the peer has written into it, the texts hold no control characters and are bounded.
    init(_ certificate: OpaquePointer) {
        let der = Self.der(of: certificate)
        self.init(
            subject: Self.text(of: X509_get_subject_name(certificate)),
            issuer: Self.text(of: X509_get_issuer_name(certificate)),
            names: Self.names(of: certificate),
            serialNumber: Self.serialNumber(of: certificate),
            notBefore: Self.seconds(X509_get0_notBefore(certificate)),
            notAfter: Self.seconds(X509_get0_notAfter(certificate)),
            der: der,
            fingerprint: der.withUnsafeBytes { Self.hexadecimal(Self.hash($0)) },
            publicKeyHash: Self.publicKeyHash(of: certificate))
    }

    /// SHA-256 of the public key, in Base64.
    static func publicKeyHash(of certificate: OpaquePointer) -> String {
        let key = X509_get_X509_PUBKEY(certificate)
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(key, &der)
        guard count > 0, let der else { return "" }
        defer { llt_free(der) }
        var digits = [UInt8](repeating: 0, count: 45)
        let length = EVP_EncodeBlock(&digits, hash(UnsafeRawBufferPointer(start: der, count: Int(count))), Int32(LLT_HASH_SIZE))
        return String(decoding: digits.prefix(Int(length)), as: UTF8.self)
    }

    private static func der(of certificate: OpaquePointer) -> Bytes {
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(certificate, &der)
        guard count > 0, let der else { return Bytes() }
        defer { llt_free(der) }
        return Bytes(copying: UnsafeRawBufferPointer(start: der, count: Int(count)))
    }

    /// A distinguished name, in one line.
    static func text(of name: OpaquePointer?) -> String {
        guard let name else { return "" }
        var whole = 0
        let text = String(unsafeUninitializedCapacity: longestName) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { whole = llt_print_name(name, $0.baseAddress, $0.count) }
            return min(whole, longestName)
        }
        return escaped(text) + (whole > longestName ? "…" : "")
    }

    private static func names(of certificate: OpaquePointer) -> [String] {
        guard let names = llt_certificate_names(certificate) else {
            ERR_clear_error()
            return []
        }
        defer { GENERAL_NAMES_free(names) }
        return (0..<llt_names_count(names)).compactMap { index in
            var bytes: UnsafePointer<UInt8>?
            var count = 0
            let kind = llt_names_at(names, index, &bytes, &count)
            guard let bytes else { return nil }
            switch kind {
            case LLT_DNS_NAME: return dnsName(UnsafeBufferPointer(start: bytes, count: count))
            case LLT_ADDRESS: return address(bytes, count)
            default: return nil
            }
        }
    }

    /// A DNS name is ASCII; everything else in it is written as an escape, which is in no name that somebody looks for.
    private static func dnsName(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        var text = ""
        for byte in bytes.prefix(longestDNSName) {
            if byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "\\x" + hexadecimal([byte])
            }
        }
        return bytes.count > longestDNSName ? text + "…" : text
    }

    private static func address(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> String? {
        let size = Int(LLT_ADDRESS_SIZE)
        let text = String(unsafeUninitializedCapacity: size) { buffer in
            buffer.initialize(repeating: 0)
            let isAddress = buffer.withMemoryRebound(to: CChar.self) { llt_print_address(bytes, count, $0.baseAddress) }
            return isAddress ? buffer.firstIndex(of: 0) ?? 0 : 0
        }
        return text.isEmpty ? nil : text
    }

    private static func serialNumber(of certificate: OpaquePointer) -> String {
        var count = 0
        var isNegative = false
        guard let bytes = llt_certificate_serial(certificate, &count, &isNegative), count > 0 else { return "00" }
        let digits = hexadecimal(UnsafeBufferPointer(start: bytes, count: min(count, longestSerialNumber)))
        return (isNegative ? "-" : "") + digits + (count > longestSerialNumber ? "…" : "")
    }

    /// Seconds since 1970, of the present if `time` is nil; zero for a time that can't be understood, which no verification lets pass.
    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        guard let epoch = ASN1_TIME_set(nil, 0) else { return 0 }
        defer { ASN1_TIME_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else {
            ERR_clear_error()
            return 0
        }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: Int(LLT_HASH_SIZE))
        _ = llt_hash(bytes.baseAddress, bytes.count, &hash)
        return hash
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nothing in it moves a terminal's cursor or turns the direction of writing.
    static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
                escaped.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
