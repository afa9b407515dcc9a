import CLifelineSystem
package import LifelineCore
package import LifelineRuntime

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension SocketTransport {
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SocketError) -> ReadResult {
        guard descriptor >= 0 else { throw SocketError(.closed, "the connection has been closed here") }
        var isShortByRule = false
        let count: Int
        if state.contains(.isUnix) {
            var flags: Int32 = 0
            count = lls_receive_unix(descriptor, buffer.baseAddress, buffer.count, &flags)
            // Reads stop at descriptors that the peer passed along, with bytes behind them.
            isShortByRule = flags != 0
        } else {
            count = lls_receive(descriptor, buffer.baseAddress, buffer.count)
        }
        if count > 0 {
            if count < buffer.count, !isShortByRule, !state.contains(.readToTheEnd) {
                // Nothing is left, and whatever comes is an event: the call that would find out is saved.
                state.subtract([.readable, .readableDue])
                return .bytes(count, more: false)
            }
            return .bytes(count, more: true)
        }
        if count == 0 {
            if let failure { throw failure }
            return .end
        }
        if count == -Int(EAGAIN) || count == -Int(EWOULDBLOCK) {
            state.subtract([.readable, .readableDue])
            return .wouldBlock
        }
        let error = failure ?? SocketError(errno: Int32(-count), "reading from \(peerName)")
        failure = error
        throw error
    }

    package func write(_ regions: ArraySlice<Bytes>) throws(SocketError) -> Int {
        guard descriptor >= 0 else { throw SocketError(.closed, "the connection has been closed here") }
        var total = 0
        var rest = regions
        while let first = rest.first {
            let part = rest.prefix(Self.regionsPerCall)
            let offered: Int
            let taken: Int
            if part.count == 1 {
                offered = first.count
                taken = first.withUnsafeBytes { lls_send(descriptor, $0.baseAddress, $0.count) }
            } else {
                (offered, taken) = send(part)
            }
            if taken < 0 {
                try blockOrThrow(taken)
                return total
            }
            total += taken
            if taken < offered {
                state.insert(.writeBlocked)
                return total
            }
            rest = rest.dropFirst(part.count)
        }
        return total
    }

    package func write(_ region: Bytes) throws(SocketError) -> Int {
        let taken = region.withUnsafeBytes { lls_send(descriptor, $0.baseAddress, $0.count) }
        return try taken == region.count ? taken : shortOrThrow(taken)
    }

    package func write(borrowing memory: UnsafeRawBufferPointer) throws(SocketError) -> Int {
        let taken = lls_send(descriptor, memory.baseAddress, memory.count)
        return try taken == memory.count ? taken : shortOrThrow(taken)
    }

    /// What a call has taken that hasn't taken all.
    private func shortOrThrow(_ taken: Int) throws(SocketError) -> Int {
        guard descriptor >= 0 else { throw SocketError(.closed, "the connection has been closed here") }
        if taken >= 0 {
            state.insert(.writeBlocked)
            return taken
        }
        try blockOrThrow(taken)
        return 0
    }

    /// What a negated error number of a write means.
    private func blockOrThrow(_ result: Int) throws(SocketError) {
        if result == -Int(EAGAIN) || result == -Int(EWOULDBLOCK) {
            state.insert(.writeBlocked)
            return
        }
        let error = SocketError(errno: Int32(-result), "writing to \(peerName)")
        // A broken pipe leaves the socket's own error, if there is one, to reading.
        if -result != Int(EPIPE) { failure = error }
        throw error
    }

    private static var regionsPerCall: Int { 64 }

    /// One call for all of `regions`: how many bytes there are, and how many were taken or the negated error number.
    private func send(_ regions: ArraySlice<Bytes>) -> (offered: Int, taken: Int) {
        withUnsafeTemporaryAllocation(of: iovec.self, capacity: regions.count) { vectors in
            var offered = 0
            var count = 0
            for region in regions {
                // The pointer outlives the closure: `regions` keeps the storage, whose address never changes.
                region.withUnsafeBytes { bytes in
                    vectors[count] = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
                }
                offered += region.count
                count += 1
            }
            return withExtendedLifetime(regions) { (offered, lls_send_regions(descriptor, vectors.baseAddress, count)) }
        }
    }

    private var peerName: String { remoteEndpoint?.description ?? "an unnamed peer" }
}
