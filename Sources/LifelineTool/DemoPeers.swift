import Lifeline

/// A client of the demo that speaks in lines.
struct DemoClient: Sendable {
    let name: String
    let connection: Connection<LineCodec>
    private let log: DemoLog

    init(_ name: String, to endpoint: Endpoint, log: DemoLog) async throws {
        self.name = name
        self.log = log
        connection = try await Connection.connect(to: endpoint, codec: .lines, within: .seconds(2))
        log.line(name, "connects", "from \(await connection.info.local?.short ?? "")")
    }

    func say(_ text: String) async throws {
        log.line(name, "sends", "“\(text)”")
        try await connection.send(text, within: .seconds(2))
    }

    /// The next line, or nil for a clean end. It is shown.
    func next() async throws -> String? {
        let text = try await connection.next(within: .seconds(2))
        if let text {
            log.line(name, "gets", "“\(text)”")
        } else {
            log.line(name, "ends", "\(connection.closeReason.map { "\($0)" } ?? "")")
        }
        return text
    }
}

/// A peer of the demo that writes bytes where it likes, as a network may deliver them.
struct DemoWriter: Sendable {
    let name: String
    let stream: ByteStream
    private let log: DemoLog

    init(_ name: String, to endpoint: Endpoint, log: DemoLog) async throws {
        self.name = name
        self.log = log
        stream = try await ByteStream.connect(to: endpoint, within: .seconds(2))
        log.line(name, "connects", "from \(await stream.info.local?.short ?? "")")
    }

    /// Writes one portion, and waits until the kernel has it.
    func write(_ portion: [UInt8]) async throws {
        let bytes = Bytes(portion)
        log.line(name, "writes", "“\(bytes.escaped)”  \(bytes.hexadecimal)")
        try await stream.write(bytes, within: .seconds(2))
        try await stream.flush(within: .seconds(2))
    }

    /// The next line, read off the bare stream; nil for a clean end.
    func next() async throws -> String? {
        let text = try await stream.read(with: .lines, within: .seconds(2))
        if let text {
            log.line(name, "gets", "“\(text)”")
        } else {
            log.line(name, "ends", "\(stream.closeReason.map { "\($0)" } ?? "")")
        }
        return text
    }
}
