import Foundation
import LifelineCore
import Testing

/// Where a program of the system listens.
enum Listening {
    /// Nowhere.
    case no
    /// At one free port, which the system picks.
    case itself
    /// At so many free ports that are found for it; `{1}` and so on stand for them, and their host, in its config.
    case told(Int)

    var word: String {
        switch self {
        case .no: "none"
        case .itself: "1"
        case .told(let count): "=\(count)"
        }
    }
}

/// Runs a program of the system while `body` runs, and ends it in every case. It works in a folder of its own, in which `config` is.
func withProgram<R>(
    _ kind: PeerKind, _ arguments: [String], listening: Listening = .no, config: String? = nil, body: (Peer) async throws -> R
) async throws -> R {
    if let missing = kind.missing { throw PeerFailure(missing) }
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    try config?.write(toFile: folder.path("config"), atomically: false, encoding: .utf8)
    // What it says to a pipe it might else keep until it has more to say.
    let program = ["stdbuf", "-oL", kind.program?.path ?? ""]
    let words = [listening.word, folder.path()] + program + arguments
    if case .no = listening { return try await withProcess(kind, words) { try await body(Peer(process: $0, endpoints: [])) } }
    return try await withProcess(kind, words) { try await body(Peer(ready: $0)) }
}

/// Runs `openssl s_server` with a certificate while `body` runs. Lines that it is told go to its client; those that are one of its commands,
/// such as Q, are taken as such.
func withOpenSSLServer<R>(_ identity: String = "server", _ arguments: [String] = [], body: (Peer) async throws -> R) async throws -> R {
    let server = ["s_server", "-accept", "127.0.0.1:0", "-cert", TLSFile.certificate(identity), "-key", TLSFile.key(identity)]
    return try await withProgram(.openssl, server + arguments, listening: .itself, body: body)
}

/// Runs `openssl s_client`, which trusts the tests' authority, while `body` runs. Lines that it is told go to the server, as above.
func withOpenSSLClient<R>(to endpoint: Endpoint, _ arguments: [String] = [], body: (Peer) async throws -> R) async throws -> R {
    let client = ["s_client", "-connect", "127.0.0.1:\(endpoint.port ?? 0)", "-CAfile", TLSFile.authority]
    return try await withProgram(.openssl, client + arguments, body: body)
}

extension Peer {
    /// Puts a line into the program's standard input.
    func tell(_ line: String) { process.tell(line) }

    /// The next line with these words in it; others are passed over.
    @discardableResult
    func hears(_ words: String) async throws -> String {
        while true {
            let line = try await fact()
            if line.contains(words) { return line }
        }
    }

    /// Has s_client close in good order, and waits for its end.
    func quit() async throws {
        tell("Q")
        #expect(try await process.status() == 0)
    }

    /// Kills the program, as by kill -9.
    func kill9() { process.send(SIGTERM) }
}

/// A folder for one test.
struct TemporaryFolder {
    private let url = FileManager.default.temporaryDirectory.appending(path: "lifeline-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }

    func path(_ name: String = "") -> String { name.isEmpty ? url.path : url.appending(path: name).path }
    func holds(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }
    func remove() { try? FileManager.default.removeItem(at: url) }
}
