import CLifelineBench
import Glibc
import Lifeline
import LifelineTLS

/// What protects the connections of a process: a key, by its path without `.pem` and `.key`, or nothing.
private struct Cover {
    static let none = "-"

    private let path: String
    private let base = SystemNetwork(loops: EventLoops(count: 1))

    init(_ path: String) { self.path = path }

    func serverNetwork() throws -> any Network {
        if path == Self.none { return base }
        let identity = try TLSIdentity(certificatesAtPath: path + ".pem", keyAtPath: path + ".key")
        return TLSNetwork(over: base, server: try TLSServer(.init(identity: identity)))
    }

    func clientNetwork(resuming: Bool = false) throws -> any Network {
        if path == Self.none { return base }
        let trust = TLSTrust.authorities(atPath: path + ".pem")
        return TLSNetwork(
            over: base, client: try TLSClient(.init(trust: trust, serverName: "localhost", resumesSessions: resuming)))
    }
}

extension Role {
    static let tlsServer = "as-tls-server"
    static let tlsLoad = "as-tls-load"
    static let tlsStream = "as-tls-stream"
    static let tlsIdle = "as-tls-idle"

    static let plain = Cover.none
    private static let connectionsAtOnce = 4
    private static let blockSize = 64 * 1024

    /// Echoes lines, and sends or takes endless streams: "down" and "up" as the first line ask for one.
    static func serveTLS(_ arguments: [String]) async throws {
        guard arguments.count == 2 else { throw Trouble("\(tlsServer) KEY lines|stream") }
        guard llb_raise_open_files() == 0 else { exit(1) }
        let network = try Cover(arguments[0]).serverNetwork()
        var options = ServerOptions()
        options.onHandlerError = { _ in }
        let endpoint = Endpoint.tcp("127.0.0.1", 0)
        if arguments[1] == "lines" {
            let server = try await Server.bind(endpoint, codec: .lines, on: network, options: options)
            say("\(server.endpoint.port ?? 0)")
            try await server.run { connection in
                while let line = try await connection.next() { try await connection.send(line) }
            }
        } else {
            let server = try await Server.bind(endpoint, codec: .raw, on: network, options: options)
            say("\(server.endpoint.port ?? 0)")
            try await server.run { connection in
                if try await connection.next()?.first == UInt8(ascii: "d") {
                    let block = Bytes([UInt8](repeating: 7, count: blockSize))
                    while true { try await connection.send(block) }
                }
                while try await connection.next() != nil {}
            }
        }
    }

    /// Connects, sends a line, waits for what comes back and closes, again and again; prints the rate and how many there were in all.
    static func loadTLS(_ arguments: [String]) async throws {
        guard arguments.count == 4, let port = UInt16(arguments[1]), let seconds = Double(arguments[3]) else {
            throw Trouble("\(tlsLoad) KEY PORT full|resumed SECONDS")
        }
        let isResumed = arguments[2] == "resumed"
        let network = try Cover(arguments[0]).clientNetwork(resuming: isResumed)
        // The first is whole, and the second may have the first's session.
        for _ in 0..<2 * connectionsAtOnce { _ = try await shakeHands(network, port) }
        let start = ContinuousClock.now
        let (first, last) = (start + .seconds(warmUp), start + .seconds(warmUp + seconds))
        let counts = try await withThrowingTaskGroup(of: (counted: Int, all: Int, resumed: Int).self) { group in
            for _ in 0..<connectionsAtOnce {
                group.addTask {
                    var counts = (counted: 0, all: 0, resumed: 0)
                    while true {
                        let wasResumed = try await shakeHands(network, port)
                        let now = ContinuousClock.now
                        counts.all += 1
                        counts.resumed += wasResumed ? 1 : 0
                        if now > last { return counts }
                        if now > first { counts.counted += 1 }
                    }
                }
            }
            var sum = (counted: 0, all: 0, resumed: 0)
            for try await counts in group {
                sum = (sum.counted + counts.counted, sum.all + counts.all, sum.resumed + counts.resumed)
            }
            return sum
        }
        // A ticket is used once; a connection that ends before its tickets are read leaves the next without one.
        guard isResumed ? counts.resumed * 10 > counts.all * 9 : counts.resumed == 0 else {
            throw Trouble("\(counts.resumed) of \(counts.all) sessions were resumed")
        }
        say("rate \(Double(counts.counted) / seconds) all \(counts.all + 2 * connectionsAtOnce)")
    }

    /// One connection from connect to close; whether it went on with an earlier session.
    private static func shakeHands(_ network: any Network, _ port: UInt16) async throws -> Bool {
        let connection = try await Connection.connect(to: .tcp("127.0.0.1", port), codec: .lines, on: network)
        try await connection.send("x")
        guard try await connection.next() == "x" else { throw Trouble("another line came back") }
        let isResumed = await connection.info.tls?.isResumed == true
        connection.closeNow()
        return isResumed
    }

    /// Sends or takes a stream; prints the bytes in a second, and the cipher suite.
    static func streamTLS(_ arguments: [String]) async throws {
        guard arguments.count == 4, let port = UInt16(arguments[1]), let seconds = Double(arguments[3]) else {
            throw Trouble("\(tlsStream) KEY PORT down|up SECONDS")
        }
        let network = try Cover(arguments[0]).clientNetwork()
        let connection = try await Connection.connect(to: .tcp("127.0.0.1", port), codec: .raw, on: network)
        try await connection.send(Bytes(arguments[2]))
        try await connection.flush()
        let block = Bytes([UInt8](repeating: 7, count: blockSize))
        let start = ContinuousClock.now
        var (first, bytes): (ContinuousClock.Instant?, Int) = (nil, 0)
        while true {
            var count = block.count
            if arguments[2] == "down" {
                guard let part = try await connection.next() else { throw Trouble("the server has ended the stream") }
                count = part.count
            } else {
                try await connection.send(block)
            }
            let now = ContinuousClock.now
            guard let from = first else {
                if now - start > .seconds(warmUp) { first = now }
                continue
            }
            bytes += count
            if now - from > .seconds(seconds) {
                let suite = await connection.info.tls?.cipherSuite ?? "none"
                say("rate \(Double(bytes) / ((now - from) / .seconds(1))) suite \(suite)")
                return
            }
        }
    }

    /// Holds connections on which nothing happens; prints what they take of the server's memory.
    static func holdTLS(_ arguments: [String]) async throws {
        guard arguments.count == 4, let port = UInt16(arguments[1]), let server = pid_t(arguments[2]), let count = Int(arguments[3]) else {
            throw Trouble("\(tlsIdle) KEY PORT SERVER COUNT")
        }
        guard llb_raise_open_files() == 0 else { exit(1) }
        let network = try Cover(arguments[0]).clientNetwork()
        func open(_ count: Int) async throws -> [Connection<LineCodec>] {
            var connections: [Connection<LineCodec>] = []
            while connections.count < count {
                connections.append(try await Connection.connect(to: .tcp("127.0.0.1", port), codec: .lines, on: network))
            }
            return connections
        }
        func echo(_ connections: [Connection<LineCodec>]) async throws {
            for connection in connections {
                try await connection.send("x")
                guard try await connection.next() == "x" else { throw Trouble("another line came back") }
            }
        }
        // What is made once is there then.
        var warm = try await open(200)
        try await echo(warm)
        for connection in warm { await connection.close(within: .seconds(5)) }
        warm = []
        let before = settledBytes(of: server)
        let connections = try await open(count)
        let fresh = settledBytes(of: server)
        try await echo(connections)
        let after = settledBytes(of: server)
        say("fresh \(Double(fresh - before) / Double(count)) echoed \(Double(after - before) / Double(count))")
        for connection in connections { connection.closeNow() }
    }

    /// The memory of a process once it stays the same, or after some seconds anyway.
    private static func settledBytes(of process: pid_t) -> Int64 {
        var last: Int64 = -1
        for _ in 0..<50 {
            poll(nil, 0, 100)
            let bytes = llb_anonymous_bytes(process)
            if bytes == last { break }
            last = bytes
        }
        return last
    }
}
