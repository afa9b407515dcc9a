import Foundation

/// What a peer is made of. Tests of one that isn't installed are skipped, or fail under `LIFELINE_REQUIRE_PEERS=1`.
enum PeerKind {
    /// Node.js: lines, and chunks as a test gives them.
    case node
    /// Node.js: bodies behind a JSON header that tells their size.
    case sizeHeaders
    /// Node.js: requests and responses behind a header of 16 bytes.
    case requests
    /// Node.js: packets behind a header of 16 bytes, with garbage between them.
    case typeHeaders
    /// Node.js: lines, from a server that outages happen to.
    case outages
    /// Ruby: lines.
    case ruby
    /// Twisted: lines and strings.
    case twisted
    /// Apache MINA: lines and texts behind a length.
    case mina
    /// Netty: length fields, delimiters, JSON.
    case netty
    /// Node.js: TLS.
    case nodeTLS
    /// Python's ssl module: ends of TLS that aren't as they should be, and upgrades in place.
    case tlsEnds
    /// Programs of the system that speak TLS, run by one in Python.
    case openssl, socat, stunnel, nginx, testssl

    /// A peer ends by itself after so many seconds, whatever happens to the tests.
    static let lifetime = 240

    static let isRequired = ProcessInfo.processInfo.environment["LIFELINE_REQUIRE_PEERS"] == "1"

    /// The peer's program in source.
    var source: URL {
        let name =
            switch self {
            case .node: "line_peer.mjs"
            case .sizeHeaders: "size_header_peer.mjs"
            case .requests: "request_peer.mjs"
            case .typeHeaders: "type_header_peer.mjs"
            case .outages: "outage_peer.mjs"
            case .ruby: "line_peer.rb"
            case .twisted: "twisted_peer.py"
            case .mina: "MinaPeer.java"
            case .netty: "NettyPeer.java"
            case .nodeTLS: "tls_peer.mjs"
            case .tlsEnds: "tls_end_peer.py"
            case .openssl, .socat, .stunnel, .nginx, .testssl: "program_peer.py"
            }
        return Self.tests.appending(path: "Peers").appending(path: name)
    }

    /// The libraries of a peer that is written in Java, where Debian's packages put them.
    var jars: [String] {
        let names =
            switch self {
            case .mina: ["mina2-core", "slf4j-api", "slf4j-nop"]
            case .netty:
                ["buffer", "codec", "common", "handler", "resolver", "transport"].map { "netty-\($0)" } + [
                    "jctools-core", "slf4j-api", "slf4j-nop",
                ]
            case .node, .sizeHeaders, .requests, .typeHeaders, .outages, .ruby, .twisted, .nodeTLS, .tlsEnds, .openssl, .socat, .stunnel,
                .nginx, .testssl:
                [String]()
            }
        return names.map { "/usr/share/java/\($0).jar" }
    }

    /// Nil if it is all there.
    var missing: String? {
        switch self {
        case .node, .sizeHeaders, .requests, .typeHeaders, .outages, .nodeTLS: interpreter == nil ? "Node.js isn't installed" : nil
        case .ruby: interpreter == nil ? "Ruby isn't installed" : nil
        case .twisted: interpreter == nil ? "no Python with Twisted at $LIFELINE_TWISTED_PYTHON or in .build/peers/twisted" : nil
        case .mina, .netty:
            if interpreter == nil || Self.program("javac") == nil {
                "no Java development kit is installed"
            } else if let jar = jars.first(where: { !FileManager.default.isReadableFile(atPath: $0) }) {
                "\(jar) isn't installed"
            } else {
                nil
            }
        case .tlsEnds: interpreter == nil ? "Python isn't installed" : nil
        case .openssl, .socat, .stunnel, .nginx, .testssl:
            if interpreter == nil || Self.program("setpriv") == nil {
                "Python and setpriv, which run \(self), aren't installed"
            } else {
                program == nil ? "\(self) isn't installed" : nil
            }
        }
    }

    /// The program that the peer is, if it is one of the system's.
    var program: URL? {
        switch self {
        case .openssl: Self.program("openssl")
        case .socat: Self.program("socat")
        case .stunnel: Self.program("stunnel4")
        case .nginx: Self.program("nginx")
        case .testssl: Self.program("testssl")
        default: nil
        }
    }

    /// Whether its tests run. Where it is missing and may not be, they run and fail.
    var isTested: Bool { missing == nil || Self.isRequired }

    func start(_ arguments: [String]) throws -> PeerProcess {
        if let missing { throw PeerFailure(missing) }
        guard let interpreter else { throw PeerFailure("\(self) has nothing to run it") }
        let arguments = [String(Self.lifetime)] + arguments
        switch self {
        case .node, .sizeHeaders, .requests, .typeHeaders, .outages, .ruby, .twisted, .nodeTLS, .tlsEnds, .openssl, .socat, .stunnel,
            .nginx,
            .testssl:
            return try PeerProcess(interpreter, [source.path] + arguments)
        case .mina, .netty:
            guard let path = JavaClasses.path else { throw PeerFailure("\(self) isn't compiled") }
            // A small, quick start instead of a fast machine.
            let machine = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m", "-cp", path]
            return try PeerProcess(interpreter, machine + [source.deletingPathExtension().lastPathComponent] + arguments)
        }
    }

    private var interpreter: URL? {
        switch self {
        case .node, .sizeHeaders, .requests, .typeHeaders, .outages, .nodeTLS: Self.program("node")
        case .ruby: Self.program("ruby")
        case .twisted: Self.pythonWithTwisted
        case .mina, .netty: Self.program("java")
        case .tlsEnds, .openssl, .socat, .stunnel, .nginx, .testssl: Self.program("python3")
        }
    }

    static func program(_ name: String) -> URL? {
        // Servers stand where the path of those who aren't root doesn't lead.
        ((ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin") + ":/usr/sbin").split(separator: ":")
            .map { URL(filePath: String($0)).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// The interpreter that the environment names, or that of the virtual environment that CI makes.
    private static let pythonWithTwisted: URL? = {
        let named = ProcessInfo.processInfo.environment["LIFELINE_TWISTED_PYTHON"].map { URL(filePath: $0) }
        let package = tests.deletingLastPathComponent().deletingLastPathComponent()
        let python = named ?? package.appending(path: ".build/peers/twisted/bin/python")
        return FileManager.default.isExecutableFile(atPath: python.path) ? python : nil
    }()

    /// The folder of the interop tests.
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
}
