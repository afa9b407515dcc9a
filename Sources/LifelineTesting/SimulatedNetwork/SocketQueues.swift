internal import LifelineCore

/// What a socket's owner has written and the peer hasn't acknowledged, with a mark between what was sent and what wasn't.
struct SendQueue {
    private var chunks: [Bytes] = []
    /// Where the first byte stands: chunk and place in it.
    private var head = (chunk: 0, byte: 0)
    /// Where the first byte stands that wasn't sent.
    private var unsent = (chunk: 0, byte: 0)
    private(set) var count = 0

    /// Appends a copy of the first `room` bytes of `regions`; how many there were.
    mutating func append(_ regions: ArraySlice<Bytes>, room: Int) -> Int {
        let offered = regions.reduce(0) { $0 + $1.count }
        let taken = min(room, offered)
        guard taken > 0 else { return 0 }
        var copy: [UInt8] = []
        copy.reserveCapacity(taken)
        for region in regions where copy.count < taken { copy.append(contentsOf: region.prefix(taken - copy.count)) }
        chunks.append(Bytes(copy))
        count += taken
        return taken
    }

    /// The next bytes to send, at most `size` of them.
    mutating func takeUnsent(_ size: Int) -> Bytes {
        let chunk = chunks[unsent.chunk]
        let end = min(chunk.count, unsent.byte + size)
        let part = chunk.slice(unsent.byte..<end)
        unsent = end == chunk.count ? (unsent.chunk + 1, 0) : (unsent.chunk, end)
        return part
    }

    /// All has to be sent again.
    mutating func rewind() { unsent = head }

    /// The first `number` bytes have arrived.
    mutating func drop(_ number: Int) {
        count -= number
        var left = number
        while left > 0 {
            let rest = chunks[head.chunk].count - head.byte
            if left < rest {
                head.byte += left
                break
            }
            left -= rest
            chunks[head.chunk] = Bytes()
            head = (head.chunk + 1, 0)
        }
        if unsent < head { unsent = head }
        if head.chunk == chunks.count || head.chunk >= 64 && head.chunk * 2 >= chunks.count {
            chunks.removeFirst(head.chunk)
            unsent.chunk -= head.chunk
            head.chunk = 0
        }
    }
}

/// What has arrived and wasn't read.
struct ReceiveQueue {
    private var chunks: [Bytes] = []
    private var head = (chunk: 0, byte: 0)
    private(set) var count = 0

    mutating func append(_ bytes: Bytes) {
        guard !bytes.isEmpty else { return }
        chunks.append(bytes)
        count += bytes.count
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let taken = min(count, buffer.count)
        var done = 0
        while done < taken {
            let chunk = chunks[head.chunk]
            let size = min(taken - done, chunk.count - head.byte)
            chunk.withUnsafeBytes { source in
                UnsafeMutableRawBufferPointer(rebasing: buffer[done..<(done + size)])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[head.byte..<(head.byte + size)]))
            }
            done += size
            if head.byte + size == chunk.count {
                chunks[head.chunk] = Bytes()
                head = (head.chunk + 1, 0)
            } else {
                head.byte += size
            }
        }
        count -= taken
        if count == 0 {
            chunks = []
            head = (0, 0)
        } else if head.chunk >= 64, head.chunk * 2 >= chunks.count {
            chunks.removeFirst(head.chunk)
            head.chunk = 0
        }
        return taken
    }
}
