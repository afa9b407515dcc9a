import CLifelineTLS
import COpenSSL
import LifelineCore
import LifelineRuntime

extension TLSTransport {
    func write(_ regions: ArraySlice<Bytes>) throws(SocketError) -> Int {
        switch state {
        case .plain(let left): return try writePlain(regions, left)
        case .handshaking, .judging:
            if regions.contains(where: { !$0.isEmpty }) { isWriteWanted = true }
            return 0
        case .failed(let error): throw error
        case .closed: throw Self.closedHere
        case .open: break
        }
        if hasShutDown { throw SocketError(.closed, "this side has ended its writes") }
        var offered = 0
        for region in regions { offered += region.count }
        var source = PlainSource(regions, skipping: records.ahead)
        while true {
            try flushOrThrow()
            if isBaseBlocked || source.isEmpty { break }
            guard try encrypt(&source) else {
                isWriteHeldUp = true
                break
            }
        }
        let written = records.report(atMost: offered)
        if written < offered { isWriteWanted = true }
        return written
    }

    /// Encrypts a batch of records into the pipe; false if OpenSSL wants to read first, as in the middle of a message of its own.
    private func encrypt(_ source: inout PlainSource) throws(SocketError) -> Bool {
        let size = min(source.left, Self.batch)
        let records = (size + Self.mostInRecord - 1) / Self.mostInRecord
        guard llt_pipe_reserve(pipe, size + records * Self.recordOverhead) else { throw Self.noMemory }
        var left = size
        while left > 0 {
            guard let done = try source.next(atMost: min(left, Self.mostInRecord), encryptRecord) else { return false }
            left -= done
        }
        return true
    }

    /// One record; nil if that has to wait.
    private func encryptRecord(_ plain: UnsafeRawBufferPointer) throws(SocketError) -> Int? {
        var done = 0
        ERR_clear_error()
        let result = SSL_write_ex(ssl, plain.baseAddress, plain.count, &done)
        if result == 1 {
            records.add(plain: done, pending: pendingInPipe)
            return done
        }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return nil
        default:
            let error = handle.failure(inHandshake: false)
            fail(error)
            throw error
        }
    }

    /// What goes before the handshake goes as it is.
    private func writePlain(_ regions: ArraySlice<Bytes>, _ left: Int) throws(SocketError) -> Int {
        var left = left
        var written = 0
        var offered = 0
        for region in regions {
            offered += region.count
            guard left > 0, !isBaseBlocked, !region.isEmpty else { continue }
            let part = region.count <= left ? region : region.slice(0..<left)
            let taken: Int
            do throws(SocketError) {
                taken = try base.write(part)
            } catch {
                fail(error)
                throw error
            }
            written += taken
            left -= taken
            if taken < part.count { isBaseBlocked = true }
        }
        if offered > written { isWriteWanted = true }
        if left > 0 {
            state = .plain(left: left)
        } else {
            state = .handshaking
            // Not from inside this call, at whose end the caller notes what was taken.
            loop.post(HandshakeTurn(self))
        }
        return written
    }

    var pendingInPipe: Int {
        var count = 0
        _ = llt_pipe_written(pipe, &count)
        return count
    }

    /// Gives what OpenSSL has written to the transport below, as far as that takes it. Its failure is told to writers; what the peer has
    /// sent before can still be read.
    func flushPipe() {
        while !isBaseBlocked, writeFailure == nil {
            var count = 0
            guard let bytes = llt_pipe_written(pipe, &count), count > 0 else { return }
            do throws(SocketError) {
                let taken = try base.write(borrowing: UnsafeRawBufferPointer(start: bytes, count: count))
                llt_pipe_consume(pipe, taken)
                records.advance(taken)
                if taken > 0 { lastProgress = loop.turnTime }
                if taken < count { isBaseBlocked = true }
            } catch {
                writeFailure = error
                // What is wrong is found by reading, whether or not that is told.
                isBaseReadable = true
                tell(readable: true)
            }
        }
    }

    private func flushOrThrow() throws(SocketError) {
        flushPipe()
        if let writeFailure { throw writeFailure }
    }

    func shutdownWrites() {
        switch state {
        case .open: shutDown()
        case .plain, .handshaking, .judging: isShutdownDue = true
        case .failed: base.shutdownWrites()
        case .closed: break
        }
    }

    /// Sends close_notify. TCP's own end comes with the close, for the peer may still send.
    func shutDown() {
        guard !hasShutDown || isShutdownDue, !records.isCut else { return }
        hasShutDown = true
        ERR_clear_error()
        // In the middle of a message of its own OpenSSL can't say it.
        isShutdownDue = SSL_shutdown(ssl) < 0
        if isShutdownDue { ERR_clear_error() }
        flushPipe()
    }

    private static var noMemory: SocketError { SocketError(.resourcesExhausted, "no memory to encrypt in") }

    /// RFC 8446, 5.1.
    static let mostInRecord = 16 * 1024
    /// Header, type, tag and padding, of all versions and ciphers.
    private static let recordOverhead = 128
    /// So much is encrypted before it is written.
    private static let batch = 8 * mostInRecord
}

/// Plain bytes in regions, to be taken a record at a time.
struct PlainSource {
    private var regions: ArraySlice<Bytes>
    /// Of the first region.
    private var offset = 0
    private(set) var left: Int

    init(_ regions: ArraySlice<Bytes>, skipping skipped: Int) {
        self.regions = regions
        left = 0
        for region in regions { left += region.count }
        skip(min(skipped, left))
    }

    var isEmpty: Bool { left == 0 }

    private mutating func skip(_ count: Int) {
        left -= count
        offset += count
        while let first = regions.first, offset >= first.count {
            offset -= first.count
            regions = regions.dropFirst()
        }
    }

    /// Gives `use` the next bytes, as many as there are up to `most`, in one piece, and skips as many as it says.
    mutating func next(
        atMost most: Int, _ use: (UnsafeRawBufferPointer) throws(SocketError) -> Int?
    ) throws(SocketError) -> Int? {
        guard let first = regions.first else { return nil }
        let count = min(most, left)
        var outcome: Result<Int?, SocketError> = .success(nil)
        if first.count - offset >= count {
            first.withUnsafeBytes { bytes in
                let piece = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
                outcome = Result { () throws(SocketError) in try use(piece) }
            }
        } else {
            // Small ones share a record.
            withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { piece in
                gather(into: piece)
                outcome = Result { () throws(SocketError) in try use(UnsafeRawBufferPointer(piece)) }
            }
        }
        let done = try outcome.get()
        if let done { skip(done) }
        return done
    }

    private func gather(into piece: UnsafeMutableRawBufferPointer) {
        var filled = 0
        var start = offset
        for region in regions where filled < piece.count {
            let count = min(region.count - start, piece.count - filled)
            region.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: piece[filled...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)]))
            }
            filled += count
            start = 0
        }
    }
}
