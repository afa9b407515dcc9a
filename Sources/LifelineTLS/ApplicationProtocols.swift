import LifelineCore

/// Names of application protocols (ALPN, RFC 7301), the best first.
struct ApplicationProtocols: Sendable {
    /// Each behind its length, as it is sent.
    let wire: [UInt8]

    init(_ names: [String]) throws(SocketError) {
        var wire: [UInt8] = []
        for name in names {
            guard let count = UInt8(exactly: name.utf8.count), count > 0 else {
                throw SocketError(
                    .invalidSetting, "an application protocol's name has 1 to 255 bytes, and “\(name.prefix(40))” \(name.utf8.count)")
            }
            wire.append(count)
            wire.append(contentsOf: name.utf8)
        }
        // The extension's length has 16 bits.
        guard wire.count <= 65_000 else { throw SocketError(.invalidSetting, "the application protocols' names are too long together") }
        self.wire = wire
    }

    /// Where in `offered` the best protocol stands that is known here, too; nil if there is none.
    func choice(from offered: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        wire.withUnsafeBufferPointer { own in
            for name in Self.names(in: own) {
                for other in Self.names(in: offered) where own[name].elementsEqual(offered[other]) { return other }
            }
            return nil
        }
    }

    /// The places of the names. What is cut off at the end is none.
    private static func names(in wire: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
        var names: [Range<Int>] = []
        var position = 0
        while position < wire.count {
            let start = position + 1
            let end = start + Int(wire[position])
            guard end <= wire.count else { break }
            names.append(start..<end)
            position = end
        }
        return names
    }
}
