internal import LifelineCore
internal import LifelineRuntime

/// One end of the pair under test: counts notices, writes a pattern and checks that what is read continues the peer's.
///
/// Confined to the loop.
final class ConformanceEnd: TransportHandler {
    /// Whether a call on one of the ends is under way, during which no notice may come.
    final class Calls {
        var isUnderWay = false
    }

    let name: String
    let transport: any Transport
    private let calls: Calls
    private(set) var readables = 0
    private(set) var writables = 0
    private(set) var received = 0
    private(set) var sent = 0
    private(set) var isClosed = false
    private var violation: String?
    private var waiters: [(isTrue: (ConformanceEnd) -> Bool, told: OneShot<Void>)] = []

    init(_ name: String, _ transport: any Transport, _ calls: Calls) {
        self.name = name
        self.transport = transport
        self.calls = calls
    }

    // Notices.

    func transportIsReadable() {
        readables += 1
        noticed("readable")
    }

    func transportIsWritable() {
        writables += 1
        noticed("writable")
    }

    private func noticed(_ kind: String) {
        if calls.isUnderWay { violation = violation ?? "\(name) was told that it is \(kind) from inside a call on a transport" }
        if isClosed { violation = violation ?? "\(name) was told that it is \(kind) after it was closed" }
        let told = waiters.filter { $0.isTrue(self) }
        waiters.removeAll { $0.isTrue(self) }
        for waiter in told { waiter.told.succeed(()) }
    }

    func forgetNotices() {
        readables = 0
        writables = 0
    }

    func expectNoViolation() throws {
        if let violation { throw ConformanceProblem(description: violation) }
    }

    /// Waits until `isTrue`, which is asked at each notice.
    nonisolated(nonsending) func until(_ what: String, _ isTrue: @escaping (ConformanceEnd) -> Bool) async throws {
        if isTrue(self) { return }
        let limit = Duration.seconds(20)
        let told = OneShot<Void>(timeOut: SocketError(.timedOut, "\(name) waited in vain for \(what), for \(limit)"))
        waiters.append((isTrue, told))
        try await told.value(within: limit, on: transport.loop)
    }

    nonisolated(nonsending) func untilReadable(_ what: String = "a readable notice") async throws {
        try await until(what) { $0.readables > 0 }
    }

    nonisolated(nonsending) func untilWritable(_ what: String = "a writable notice") async throws {
        try await until(what) { $0.writables > 0 }
    }

    // Calls.

    private func call<R>(_ body: () throws(SocketError) -> R) throws(SocketError) -> R {
        calls.isUnderWay = true
        defer { calls.isUnderWay = false }
        return try body()
    }

    func start() { start(self) }

    func start(_ handler: any TransportHandler) {
        calls.isUnderWay = true
        transport.start(handler)
        calls.isUnderWay = false
    }

    func askToRead() {
        calls.isUnderWay = true
        transport.askToRead()
        calls.isUnderWay = false
    }

    func shutdownWrites() {
        calls.isUnderWay = true
        transport.shutdownWrites()
        calls.isUnderWay = false
    }

    func close(reset: Bool = false) {
        isClosed = true
        calls.isUnderWay = true
        transport.close(reset: reset)
        calls.isUnderWay = false
    }

    /// Writes the next `count` bytes of the pattern, in regions of at most `regionSize`; how many were taken.
    @discardableResult
    func write(_ count: Int, regionSize: Int = .max) throws -> Int {
        var regions: [Bytes] = []
        var left = count
        var position = sent
        while left > 0 {
            let region = Pattern.bytes(at: position, count: min(left, regionSize, Pattern.largest))
            regions.append(region)
            position += region.count
            left -= region.count
        }
        let taken = try call { () throws(SocketError) in try transport.write(regions[...]) }
        try expect((0...count).contains(taken), "write took \(taken) of \(count) bytes")
        sent += taken
        return taken
    }

    /// Reads at most `size` bytes and compares them to what the peer writes.
    func read(_ size: Int = 65_536) throws -> ReadResult {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
        defer { buffer.deallocate() }
        let result = try call { () throws(SocketError) in try transport.read(into: buffer) }
        if case .bytes(let count, _) = result {
            try expect((1...size).contains(count), "read gave \(count) bytes for a buffer of \(size)")
            let bytes = Bytes(copying: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            try expect(
                bytes == Pattern.bytes(at: received, count: count),
                "\(name) read other bytes than its peer wrote, between \(received) and \(received + count)")
            received += count
        }
        return result
    }

    /// Reads until `total` bytes have come, waiting for notices.
    nonisolated(nonsending) func read(upTo total: Int, size: () -> Int = { 65_536 }) async throws {
        while received < total {
            forgetNotices()
            switch try read(min(size(), Pattern.largest)) {
            case .bytes(_, let more):
                if !more, received < total { try await untilReadable("bytes behind the \(received) of \(total) that it has read") }
            case .wouldBlock:
                try await untilReadable("bytes behind the \(received) of \(total) that it has read")
            case .end, .cut:
                throw ConformanceProblem(description: "\(name) read the end at \(received) of \(total) bytes")
            }
        }
    }

    /// Writes `count` bytes more, waiting for notices.
    nonisolated(nonsending) func writeAll(_ count: Int, regionSize: Int = .max) async throws {
        var left = count
        while left > 0 {
            forgetNotices()
            left -= try write(left, regionSize: regionSize)
            if left > 0 { try await untilWritable("a writable notice after a short write, with \(left) bytes left") }
        }
    }

    /// Reads on until there is nothing more to read: the end, true, or a failure, which is thrown.
    nonisolated(nonsending) func readToEnd() async throws {
        while true {
            forgetNotices()
            switch try read() {
            case .end, .cut: return
            case .bytes(_, more: true): continue
            case .bytes, .wouldBlock: try await untilReadable("the end behind \(received) bytes")
            }
        }
    }
}

/// What the ends write: bytes that say where they belong.
enum Pattern {
    static let largest = 128 * 1024
    private static let period = 251
    private static let stock = Bytes((0..<(largest + period)).map { UInt8($0 % period) })

    static func bytes(at position: Int, count: Int) -> Bytes {
        let start = position % period
        return stock.slice(start..<(start + count))
    }
}
