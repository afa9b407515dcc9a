import Lifeline

/// A file or standard input, read piece by piece.
struct CapturedStream {
    /// The bytes that were read.
    private(set) var count = 0
    private let descriptor: Int32
    private let name: String
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)

    /// - Throws: ``SocketError/Code/system`` if the file can't be opened.
    init(_ path: String) throws {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? System.standardInput : try System.open(path)
    }

    /// Calls `body` with the next bytes; false at the end. The pointer is valid during the call only.
    mutating func read(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
        while true {
            let descriptor = descriptor
            let count: Int?
            do {
                count = try buffer.withUnsafeMutableBytes { try System.read(descriptor, into: $0) }
            } catch {
                throw SocketError(.system, "\(name) can't be read", cause: error)
            }
            guard let count else {
                _ = System.waits(for: descriptor, unless: -1)
                continue
            }
            if count == 0 { return false }
            self.count += count
            buffer.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            return true
        }
    }
}
