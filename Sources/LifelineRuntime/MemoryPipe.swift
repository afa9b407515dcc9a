import LifelineCore

/// One direction of a connection in memory: a ring of bytes with a bound.
///
/// The proof behind `@unchecked`: everything that changes is guarded by `lock`; `reader` and `writer` are set before the pipe is shared.
final class MemoryPipe: @unchecked Sendable {
    weak var reader: MemoryTransport?
    weak var writer: MemoryTransport?

    private let capacity: Int
    private let lock = Lock()
    private var ring: [UInt8] = []
    private var head = 0
    private var count = 0
    private var isEnded = false
    private var isBroken = false
    private var isReaderGone = false
    private var isReaderWaiting = true
    private var isWriterWaiting = false

    init(capacity: Int) { self.capacity = max(1, capacity) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SocketError) -> ReadResult {
        lock.lock()
        let taken = min(count, buffer.count)
        if taken == 0 {
            defer { lock.unlock() }
            if isBroken { throw SocketError(.reset, "the peer has broken the connection off") }
            if isEnded { return .end }
            isReaderWaiting = true
            return .wouldBlock
        }
        let first = min(taken, ring.count - head)
        ring.withUnsafeBytes { source in
            buffer.baseAddress?.copyMemory(from: source.baseAddress! + head, byteCount: first)
            if taken > first { (buffer.baseAddress! + first).copyMemory(from: source.baseAddress!, byteCount: taken - first) }
        }
        head = (head + taken) % ring.count
        count -= taken
        if count == 0 {
            // An idle connection keeps no buffer.
            ring = []
            head = 0
        }
        let more = count > 0 || isEnded || isBroken
        isReaderWaiting = !more
        let wakesWriter = isWriterWaiting
        isWriterWaiting = false
        lock.unlock()
        if wakesWriter { writer?.signal(readable: false, writable: true) }
        return .bytes(taken, more: more)
    }

    /// True if there is something to tell the reader now; otherwise it will be told.
    func readerAsks() -> Bool {
        lock.withLock {
            let isReadable = count > 0 || isEnded || isBroken
            isReaderWaiting = !isReadable
            return isReadable
        }
    }

    func write(_ regions: ArraySlice<Bytes>) throws(SocketError) -> Int {
        lock.lock()
        if isReaderGone || isBroken || isEnded {
            let isOurs = isEnded
            lock.unlock()
            throw isOurs
                ? SocketError(.closed, "this side has ended its writes") : SocketError(.reset, "the peer has closed the connection")
        }
        var written = 0
        for region in regions {
            let room = min(capacity - count, region.count)
            region.withUnsafeBytes { add(UnsafeRawBufferPointer(rebasing: $0[..<room])) }
            written += room
            if room < region.count {
                isWriterWaiting = true
                break
            }
        }
        let wakesReader = written > 0 && isReaderWaiting
        if wakesReader { isReaderWaiting = false }
        lock.unlock()
        if wakesReader { reader?.signal(readable: true, writable: false) }
        return written
    }

    /// The writer has ended its side.
    func end() { finish(broken: false) }

    /// The writer's side has gone with a loss.
    func breakOff() { finish(broken: true) }

    private func finish(broken: Bool) {
        lock.lock()
        let isNews = !isEnded && !isBroken || broken && !isBroken
        isEnded = true
        isBroken = isBroken || broken
        isReaderWaiting = false
        lock.unlock()
        if isNews { reader?.signal(readable: true, writable: false) }
    }

    /// The reader has closed: writes fail from now on. True if it left something unread.
    func readerLeaves() -> Bool {
        lock.lock()
        isReaderGone = true
        let hadUnread = count > 0
        ring = []
        count = 0
        head = 0
        lock.unlock()
        writer?.signal(readable: false, writable: true)
        return hadUnread
    }

    /// Appends what fits; the ring grows with what it holds, up to its bound.
    private func add(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0 else { return }
        if count + bytes.count > ring.count {
            var larger = [UInt8](repeating: 0, count: min(capacity, max(count + bytes.count, 2 * ring.count)))
            for place in 0..<count { larger[place] = ring[(head + place) % ring.count] }
            ring = larger
            head = 0
        }
        let tail = (head + count) % ring.count
        let first = min(bytes.count, ring.count - tail)
        ring.withUnsafeMutableBytes { target in
            (target.baseAddress! + tail).copyMemory(from: bytes.baseAddress!, byteCount: first)
            if bytes.count > first { target.baseAddress!.copyMemory(from: bytes.baseAddress! + first, byteCount: bytes.count - first) }
        }
        count += bytes.count
    }
}
