import Lifeline

/// Reads a descriptor on a thread of its own, and only when asked: while nobody asks, a pipe fills up and its writer waits.
///
/// Right for terminals, pipes and files. A cancelled read ends at once, and later ones with it.
actor DescriptorReader {
    private nonisolated let thread = OwnThread()
    private let descriptor: Int32
    private nonisolated let wake: (reading: Int32, writing: Int32)
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ descriptor: Int32) throws {
        self.descriptor = descriptor
        wake = try System.makePipe()
    }

    /// What is there, waiting for it; nil at the end.
    ///
    /// - Throws: `CancellationError`; ``SocketError/Code/system`` if the descriptor can't be read.
    nonisolated func read() async throws -> Bytes? {
        try await withTaskCancellationHandler {
            try await wait()
        } onCancel: {
            try? withUnsafeBytes(of: UInt8(0)) { try System.write($0, to: wake.writing) }
        }
    }

    private func wait() throws -> Bytes? {
        while true {
            guard System.waits(for: descriptor, unless: wake.reading) else { throw CancellationError() }
            guard let count = try buffer.withUnsafeMutableBytes({ try System.read(descriptor, into: $0) }) else { continue }
            return count == 0 ? nil : Bytes(buffer[..<count])
        }
    }
}
