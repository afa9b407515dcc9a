import CLifelineBench
import Glibc

/// TLS compared to OpenSSL's own programs, and to the same without TLS.
struct TLSComparison: ~Copyable {
    private let options: Options
    private let keys: KeyFolder
    private let serverCore: Int32
    private let loadCore: Int32

    private static let grace = 30.0
    private static let idleConnections = 2_000

    init(_ options: Options, _ keys: consuming KeyFolder) {
        self.options = options
        self.keys = keys
        serverCore = llb_core(0)
        let second = llb_core(1)
        loadCore = second >= 0 ? second : serverCore
    }

    /// Lifeline's server.
    private func server(_ key: String, _ kind: String, limit: Double) throws -> BenchServer {
        let child = try Child([Role.tlsServer, key, kind], core: serverCore, limit: limit)
        guard let port = UInt16(try child.line(within: 10)) else { throw Trouble("the server has no port") }
        return BenchServer(child: child, port: port)
    }

    /// The words of a child's line, by the names before them.
    private func values(of child: borrowing Child, within limit: Double) throws -> [String: String] {
        let words = try child.line(within: limit).split(separator: " ").map(String.init)
        return Dictionary(stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], words[$0 + 1]) }) { $1 }
    }

    private func number(_ name: String, in values: [String: String]) throws -> Double {
        guard let number = values[name].flatMap({ Double($0) }) else { throw Trouble("no \(name) in \(values)") }
        return number
    }
}

// Handshakes.
extension TLSComparison {
    private struct Handshakes {
        typealias Figures = (rate: Double, microseconds: Double)

        private var rate: [Double] = []
        private var microseconds: [Double] = []
        private var rateRatio: [Double] = []
        private var timeRatio: [Double] = []

        mutating func add(_ figures: Figures, against other: Figures) {
            rate.append(figures.rate)
            microseconds.append(figures.microseconds)
            rateRatio.append(figures.rate / other.rate)
            timeRatio.append(figures.microseconds / other.microseconds)
        }

        var medians: [Double?] { [rate, rateRatio, microseconds, timeRatio].map { FigureTable.median($0) } }
    }

    func handshakes() throws -> FigureTable {
        var table = FigureTable(
            title: "connections with a handshake and one line each way, 4 at once; ratios to openssl s_server in the same round",
            columns: [
                .init("rate /s", "rate", digits: 0), .init("ratio", "ratio", digits: 3), .init("µs of server", "usOfServer", digits: 1),
                .init("ratio", "timeRatio", digits: 3),
            ])
        for key in BenchKey.allCases {
            for kind in ["full", "resumed"] {
                var (own, other) = (Handshakes(), Handshakes())
                for _ in 0..<options.rounds {
                    let ours = try measure(kind, key, isOwn: true)
                    let theirs = try measure(kind, key, isOwn: false)
                    own.add(ours, against: theirs)
                    other.add(theirs, against: theirs)
                }
                table.rows.append(("\(key.rawValue), \(kind)", own.medians))
                table.rows.append(("\(key.rawValue), \(kind), s_server", other.medians))
            }
        }
        return table
    }

    private func measure(_ kind: String, _ key: BenchKey, isOwn: Bool) throws -> Handshakes.Figures {
        let time = Role.warmUp + options.seconds + Self.grace
        let server =
            isOwn
            ? try server(keys.path(of: key), "lines", limit: time + 10)
            : try OpenSSL.server(key, in: keys, core: serverCore, limit: time + 10)
        let used = server.child.processorSeconds
        let load = try Child(
            [Role.tlsLoad, keys.path(of: key), "\(server.port)", kind, "\(options.seconds)"], core: loadCore, limit: time)
        let values = try values(of: load, within: time)
        return (try number("rate", in: values), (server.child.processorSeconds - used) / (try number("all", in: values)) * 1e6)
    }
}

// Streams.
extension TLSComparison {
    func streams() throws -> FigureTable {
        var table = FigureTable(
            title: "one stream of 64 KiB writes; the limit: the time without TLS, and that of openssl speed for as many bytes",
            columns: [
                .init("MB/s", "mbPerS", digits: 0), .init("of the limit", "ofLimit", digits: 3),
                .init("of no TLS", "ofPlain", digits: 3), .init("cipher MB/s", "cipherMBPerS", digits: 0),
            ])
        for direction in ["down", "up"] {
            var (plain, protected, ofLimit, ofPlain, ciphers): ([Double], [Double], [Double], [Double], [Double]) = ([], [], [], [], [])
            for _ in 0..<options.rounds {
                let without = try stream(direction, Role.plain).rate
                let (rate, suite) = try stream(direction, keys.path(of: .ecdsa))
                let cipher = try OpenSSL.speed(of: Self.cipher(of: suite), core: serverCore)
                plain.append(without / 1e6)
                protected.append(rate / 1e6)
                ciphers.append(cipher / 1e6)
                ofLimit.append(rate * (1 / without + 1 / cipher))
                ofPlain.append(rate / without)
            }
            let name = direction == "down" ? "server to client" : "client to server"
            table.rows.append(("\(name), TLS", [protected, ofLimit, ofPlain, ciphers].map { FigureTable.median($0) }))
            table.rows.append(("\(name), no TLS", [FigureTable.median(plain), nil, nil, nil]))
        }
        return table
    }

    private func stream(_ direction: String, _ key: String) throws -> (rate: Double, suite: String) {
        let time = Role.warmUp + options.seconds + Self.grace
        let server = try server(key, "stream", limit: time + 10)
        let client = try Child([Role.tlsStream, key, "\(server.port)", direction, "\(options.seconds)"], core: loadCore, limit: time)
        let values = try values(of: client, within: time)
        return (try number("rate", in: values), values["suite"] ?? "")
    }

    /// A cipher suite's cipher, by OpenSSL's name.
    private static func cipher(of suite: String) -> String {
        if suite.contains("CHACHA20") { return "chacha20-poly1305" }
        return suite.contains("AES_128_GCM") ? "aes-128-gcm" : "aes-256-gcm"
    }
}

// Memory.
extension TLSComparison {
    func memory() throws -> FigureTable {
        var table = FigureTable(
            title: "a server's memory for each idle connection, of \(Self.idleConnections)",
            columns: [.init("fresh", "bytes", digits: 0), .init("after echo", "bytesAfterEcho", digits: 0)])
        let covers = [("no TLS", Role.plain)] + BenchKey.allCases.map { ("TLS, \($0.rawValue)", keys.path(of: $0)) }
        for (name, key) in covers {
            let server = try server(key, "lines", limit: 120)
            let holder = try Child(
                [Role.tlsIdle, key, "\(server.port)", "\(server.child.process)", "\(Self.idleConnections)"], core: loadCore, limit: 100)
            let values = try values(of: holder, within: 90)
            table.rows.append((name, [try number("fresh", in: values), try number("echoed", in: values)]))
        }
        return table
    }
}
