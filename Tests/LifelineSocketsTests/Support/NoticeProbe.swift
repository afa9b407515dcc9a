import LifelineCore
import LifelineRuntime

/// Records a transport's notices.
final class NoticeProbe: TransportHandler, Sendable {
    enum Notice: Sendable, Equatable { case readable, writable }

    let notices = Mailbox<Notice>()

    func transportIsReadable() { notices.put(.readable) }
    func transportIsWritable() { notices.put(.writable) }

    /// Waits for a notice of that kind and drops others.
    func next(_ wanted: Notice) async throws {
        while try await notices.next() != wanted {}
    }
}

extension Transport {
    /// Reads once, on the loop.
    func readOnce(_ capacity: Int = 64 * 1024) async throws -> (result: ReadResult, bytes: [UInt8]) {
        try await loop.perform {
            let buffer = UnsafeMutableRawBufferPointer(rebasing: self.loop.storages.readBuffer(behind: 0)[..<capacity])
            let result = try self.read(into: buffer)
            guard case .bytes(let count, _) = result else { return (result, []) }
            return (result, Array(buffer[..<count]))
        }
    }

    /// Reads until nothing is left or the end has come.
    func drain() async throws -> (bytes: [UInt8], ended: Bool) {
        var all: [UInt8] = []
        while true {
            let (result, bytes) = try await readOnce()
            all += bytes
            switch result {
            case .bytes(_, more: true): continue
            case .bytes(_, more: false), .wouldBlock: return (all, false)
            case .end, .cut: return (all, true)
            }
        }
    }
}
