import CLifelineSystem
import LifelineCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The socket file that a listener has made, known by its inode: another that came to stand at the path isn't touched.
struct UnixPath: Sendable {
    let path: String
    private let device: UInt64
    private let inode: UInt64

    private init(_ path: String, _ file: lls_file) {
        self.path = path
        device = file.device
        inode = file.inode
    }

    /// Removes the file if it is still the one.
    func remove() {
        guard let there = Self.file(at: path), there.device == device, there.inode == inode else { return }
        _ = lls_remove_file(path)
    }

    static func listen(at path: String, options: SocketOptions) throws(SocketError) -> ListeningSocket {
        let address = try SocketAddress.checked(path: path)
        let descriptor = try Descriptor.open(family: address.family)
        var made: UnixPath?
        do throws(SocketError) {
            try Descriptor.apply(options, to: descriptor, isIP: false)
            var raw = address.raw
            var bound = lls_bind(descriptor, &raw)
            if bound == -EADDRINUSE {
                try makeRoom(at: path, address, mayReplace: options.replaceStalePath)
                bound = lls_bind(descriptor, &raw)
            }
            if bound == -ENOENT {
                throw SocketError(.invalidEndpoint, "listening at \(address): the directory doesn't exist", errno: ENOENT)
            }
            try Descriptor.check(bound, "listening at \(address)")
            made = file(at: path).map { UnixPath(path, $0) }
            try Descriptor.check(lls_listen(descriptor, Int32(clamping: options.backlog)), "listening at \(address)")
            return ListeningSocket(descriptor: descriptor, endpoint: .unix(path), file: made)
        } catch {
            made?.remove()
            _ = lls_close(descriptor)
            throw error
        }
    }

    /// Removes a socket file that nobody answers on; anything else is left and refused.
    private static func makeRoom(at path: String, _ address: SocketAddress, mayReplace: Bool) throws(SocketError) {
        guard let before = file(at: path) else { return }
        if before.is_socket == 0 {
            throw SocketError(.addressInUse, "something that isn't a socket stands at \(path)", errno: EADDRINUSE)
        }
        if !mayReplace { throw SocketError(.addressInUse, "a socket file stands at \(path)", errno: EADDRINUSE) }
        let probe = try Descriptor.open(family: address.family)
        var raw = address.raw
        let answer = lls_connect(probe, &raw)
        _ = lls_close(probe)
        // Only a refusal says that no process has it open. A full backlog, another type of socket and missing rights do not.
        if answer == -ENOENT { return }
        guard answer == -ECONNREFUSED else {
            throw SocketError(.addressInUse, "another process listens at \(path)", errno: EADDRINUSE)
        }
        // Another starter may have replaced it since.
        guard let now = file(at: path), now.device == before.device, now.inode == before.inode else { return }
        _ = lls_remove_file(path)
    }

    private static func file(at path: String) -> lls_file? {
        var file = lls_file()
        return lls_file_at(path, &file) == 0 ? file : nil
    }
}
