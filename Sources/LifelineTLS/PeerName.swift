import CLifelineTLS
import LifelineCore

/// What a server's certificate has to be for.
enum PeerName: Hashable, Sendable {
    /// In lower case, without a dot behind it.
    case dns(String)
    /// Without a zone.
    case address(String)

    /// Nil for what can be neither: empty labels, characters that no name has, numbers that the system may take for octal ones.
    init?(_ host: String) {
        if host.utf8.contains(UInt8(ascii: ":")) {
            let address = String(host.prefix { $0 != "%" })
            guard PeerName.isIPv6(address) else { return nil }
            self = .address(address)
            return
        }
        if let parts = PeerName.fourNumbers(in: host) {
            guard parts.allSatisfy({ $0.count == 1 || $0.first != "0" }) else { return nil }
            self = .address(host)
            return
        }
        var text = host.utf8[...]
        if text.last == UInt8(ascii: ".") { text.removeLast() }
        let labels = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.count <= 253, labels.allSatisfy(PeerName.isLabel) else { return nil }
        self = .dns(String(decoding: text, as: UTF8.self).lowercased())
    }

    /// In words, as it was asked for.
    var text: String {
        switch self {
        case .dns(let name), .address(let name): name
        }
    }

    var isAddress: Bool {
        if case .address = self { true } else { false }
    }

    /// What a server is asked for (RFC 6066, 3): DNS names only, and none of the forms in which the system also takes an IPv4 address.
    var indication: String? {
        guard case .dns(let name) = self, let last = name.split(separator: ".").last else { return nil }
        return last.hasPrefix("0x") || last.utf8.allSatisfy(PeerName.isDigit) ? nil : name
    }

    private static func isIPv6(_ text: String) -> Bool {
        text.utf8.allSatisfy { isDigit($0) || (0x61...0x66).contains($0 | 0x20) || $0 == 0x3A || $0 == 0x2E } && llt_is_ipv6(text)
    }

    /// What an IPv4 address consists of, leading zeros or not.
    private static func fourNumbers(in host: String) -> [Substring]? {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { $0.utf8.allSatisfy(isDigit) && $0.utf8.count <= 3 && UInt8($0) != nil } ? parts : nil
    }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        !label.isEmpty
            && label.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
