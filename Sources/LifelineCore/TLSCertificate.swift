/// The facts of an X.509 certificate (RFC 5280), as it was received. That they stand here says nothing about whether they were verified.
public struct TLSCertificate: Sendable, Hashable {
    /// Whom it is for, such as `CN=chat.example.com,O=Example`.
    public let subject: String
    /// Who has signed it.
    public let issuer: String
    /// The names that it is good for: DNS names as they stand there, wildcards included, and IP addresses in their usual form.
    public let names: [String]
    /// The serial number, in hexadecimal digits.
    public let serialNumber: String
    /// From when it is valid, in seconds since 1970.
    public let notBefore: Int64
    /// Until when it is valid, in seconds since 1970.
    public let notAfter: Int64
    /// The certificate itself, in DER.
    public let der: Bytes
    /// SHA-256 of ``der``, in hexadecimal digits.
    public let fingerprint: String
    /// SHA-256 of the public key (its SubjectPublicKeyInfo), in Base64: what is pinned (RFC 7469, 2.4).
    public let publicKeyHash: String

    package init(
        subject: String, issuer: String, names: [String], serialNumber: String, notBefore: Int64, notAfter: Int64, der: Bytes,
        fingerprint: String, publicKeyHash: String
    ) {
        self.subject = subject
        self.issuer = issuer
        self.names = names
        self.serialNumber = serialNumber
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.der = der
        self.fingerprint = fingerprint
        self.publicKeyHash = publicKeyHash
    }
}

extension TLSCertificate: CustomStringConvertible {
    /// Subject, issuer, the first names and validity: no more than a log can take, whatever the peer has written into it.
    public var description: String {
        var names = names.prefix(Self.mostNames).map { Self.cut($0) }.joined(separator: ", ")
        if names.isEmpty { names = "no name" }
        if self.names.count > Self.mostNames { names += ", … and \(self.names.count - Self.mostNames) more" }
        let (subject, issuer) = (Self.cut(subject), Self.cut(issuer))
        return "“\(subject)” by “\(issuer)” for \(names), valid from \(Self.day(notBefore)) to \(Self.day(notAfter))"
    }

    private static let mostNames = 8
    private static let longestName = 256

    private static func cut(_ text: String) -> String {
        text.utf8.count > longestName ? String(decoding: text.utf8.prefix(longestName), as: UTF8.self) + "…" : text
    }

    /// The day, in UTC: the civil calendar from days since 1970, after H. Hinnant's `civil_from_days`.
    static func day(_ seconds: Int64) -> String {
        let days = seconds / 86_400 + (seconds % 86_400 < 0 ? -1 : 0) + 719_468
        let era = (days >= 0 ? days : days &- 146_096) / 146_097
        let dayOfEra = days &- era &* 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let civilMonth = month < 10 ? month + 3 : month - 9
        let year = yearOfEra &+ era &* 400 &+ (civilMonth <= 2 ? 1 : 0)
        return "\(year)-\(twoDigits(civilMonth))-\(twoDigits(day))"
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
