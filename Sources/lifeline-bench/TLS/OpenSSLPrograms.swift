import CLifelineBench
import Glibc

extension Role {
    static let program = "as-program"

    /// Becomes another program, which then is tied to a core and to the benchmark's life as this one was.
    static func become(_ arguments: [String]) throws {
        guard let name = arguments.first else { throw Trouble("\(program) NAME ARGUMENTS") }
        // What it has to say beside its output is of no use, and mustn't stand between figures.
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        dup2(nowhere, STDERR_FILENO)
        var words = arguments.map { strdup($0) }
        words.append(nil)
        execvp(name, words)
        exit(127)
    }
}

/// What is done with the `openssl` command.
enum OpenSSL {
    /// Its version; nil if there is no such command.
    static func version() -> String? {
        guard let child = try? Child([Role.program, "openssl", "version"], core: -1, limit: 10) else { return nil }
        return try? child.line(within: 10)
    }

    /// Its server, which answers each line with the line reversed, on a core of its own. One connection is served after the other.
    static func server(_ key: BenchKey, in folder: borrowing KeyFolder, core: Int32, limit: Double) throws -> BenchServer {
        let path = folder.path(of: key)
        let child = try Child(
            [Role.program, "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", path + ".pem", "-key", path + ".key", "-rev"],
            core: core, limit: limit)
        while true {
            let words = try child.line(within: 10).split(separator: ":")
            if words.first == "ACCEPT 127.0.0.1", let port = words.last.flatMap({ UInt16($0) }) {
                return BenchServer(child: child, port: port)
            }
        }
    }

    /// Bytes of 16 KiB blocks that it encrypts in a second on one core.
    static func speed(of cipher: String, core: Int32) throws -> Double {
        let child = try Child(
            [Role.program, "openssl", "speed", "-mr", "-evp", cipher, "-bytes", "16384", "-seconds", "1"], core: core, limit: 20)
        while true {
            let words = try child.line(within: 20).split(separator: ":")
            if words.first == "+F", let speed = words.last.flatMap({ Double($0) }) { return speed }
        }
    }
}

/// A server in a process of its own.
struct BenchServer: ~Copyable {
    let child: Child
    let port: UInt16
}

/// The kinds of keys that servers have.
enum BenchKey: String, CaseIterable {
    case rsa = "RSA-2048"
    case ecdsa = "ECDSA P-256"

    var fileName: String { self == .rsa ? "rsa" : "ec" }

    fileprivate var options: [String] {
        switch self {
        case .rsa: ["-newkey", "rsa:2048"]
        case .ecdsa: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        }
    }
}

/// A temporary folder with a key of each kind and its certificate for `localhost`, which goes with the value.
struct KeyFolder: ~Copyable {
    private let path: String

    private init(path: String) { self.path = path }

    static func make() throws -> KeyFolder {
        var template = Array("/tmp/lifeline-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Trouble("no temporary folder: \(String(cString: strerror(errno)))") }
        let folder = KeyFolder(path: String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
        for key in BenchKey.allCases { try folder.make(key) }
        return folder
    }

    deinit {
        for key in BenchKey.allCases {
            unlink(path(of: key) + ".pem")
            unlink(path(of: key) + ".key")
        }
        rmdir(path)
    }

    /// Without `.pem` and `.key`.
    func path(of key: BenchKey) -> String { "\(path)/\(key.fileName)" }

    private func make(_ key: BenchKey) throws {
        let path = path(of: key)
        let child = try Child(
            [Role.program, "openssl", "req", "-x509", "-noenc", "-days", "2", "-subj", "/CN=localhost"]
                + ["-addext", "subjectAltName=DNS:localhost", "-keyout", path + ".key", "-out", path + ".pem"] + key.options,
            core: -1, limit: 20)
        // It prints nothing, and ends.
        while (try? child.line(within: 20)) != nil {}
        guard access(path + ".pem", R_OK) == 0 else { throw Trouble("openssl req has made no \(key.rawValue) certificate") }
    }
}
