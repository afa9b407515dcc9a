import CLifelineSystem
import Glibc
import LifelineCore
import LifelineRuntime

/// Plain descriptors, for peers that do what Lifeline never would.
enum Raw {
    /// Two connected Unix sockets that block.
    static func pair() -> (Int32, Int32) {
        var ends: [Int32] = [0, 0]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    /// A TCP socket that blocks, connected to `port` of this host.
    static func connect(_ port: UInt16) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(port)
        precondition(lls_connect(descriptor, &address) == 0, "connect: \(errno)")
        return descriptor
    }

    /// A listening TCP socket and its port.
    static func listen(backlog: Int32 = 16) -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(0)
        var ip = lls_ip()
        precondition(lls_bind(descriptor, &address) == 0 && lls_listen(descriptor, backlog) == 0)
        precondition(lls_local_address(descriptor, &address) == 0)
        _ = lls_read_address(&address, &ip)
        return (descriptor, ip.port)
    }

    /// A port of this host at which nobody listens.
    static func refusedPort() -> UInt16 {
        let (descriptor, port) = listen()
        close(descriptor)
        return port
    }

    static func loopback(_ port: UInt16) -> lls_address {
        var ip = lls_ip()
        var address = lls_address()
        precondition(lls_parse_ip("127.0.0.1", &ip) == 1)
        ip.port = port
        lls_make_address(&ip, &address)
        return address
    }

    static func write(_ descriptor: Int32, _ text: String) {
        precondition(lls_send(descriptor, text, text.utf8.count) == text.utf8.count)
    }

    /// A socket's option that is a number; -1 if it can't be asked for.
    static func option(_ descriptor: Int32, _ level: Int32, _ name: Int32) -> Int32 {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, level, name, &value, &size) == 0 ? value : -1
    }

    /// How much of this process stands in memory, in bytes.
    static func residentMemory() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 256)
        guard fgets(&text, Int32(text.count), file) != nil else { return 0 }
        let fields = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }

    /// How many descriptors of sockets this process has. Others may come and go: Swift's pool of threads opens some when it is busy.
    static func openSockets() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return -1 }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name.0) { String(cString: $0) }
            var target = [UInt8](repeating: 0, count: 64)
            let length = readlink("/proc/self/fd/\(name)", &target, target.count)
            if String(decoding: target.prefix(max(0, length)), as: UTF8.self).hasPrefix("socket:") { count += 1 }
        }
        return count
    }
}

/// A listener whose backlog is full: connecting to it gets no answer.
final class BlackHole: Sendable {
    let port: UInt16
    private let descriptors: [Int32]

    init() {
        let (listener, port) = Raw.listen(backlog: 0)
        self.port = port
        var address = Raw.loopback(port)
        var all = [listener]
        for _ in 0..<4 {
            let filler = lls_socket(Int32(LLS_V4))
            _ = lls_connect(filler, &address)
            all.append(filler)
        }
        descriptors = all
    }

    deinit { for descriptor in descriptors { close(descriptor) } }
}

/// A folder of its own for socket files.
final class Folder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/lifeline-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        if let folder = opendir(path) {
            while let entry = readdir(folder) {
                let name = withUnsafePointer(to: &entry.pointee.d_name.0) { String(cString: $0) }
                if name != ".", name != ".." { unlink("\(path)/\(name)") }
            }
            closedir(folder)
        }
        rmdir(path)
    }

    /// A path in it of exactly `length` bytes.
    func path(ofLength length: Int) -> String {
        path + "/" + String(repeating: "s", count: length - path.utf8.count - 1)
    }

    static func holds(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
