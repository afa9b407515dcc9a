#if canImport(Darwin)
    import CLifelineSystem
    import Darwin
    import LifelineCore

    /// Darwin's kqueue, edge-triggered (`EV_CLEAR`), in the shape of the epoll poller. It has been type-checked, never run: see
    /// `.ci/typecheck-darwin`.
    ///
    /// The proof behind `@unchecked`: the descriptor never changes; `events` is used on the loop's thread only, by ``wait(nanoseconds:)`` and the
    /// subscript.
    final class Poller: @unchecked Sendable {
        private let queue: Int32
        private let events: UnsafeMutablePointer<kevent>
        private static let capacity = 256

        init() throws(SocketError) {
            queue = kqueue()
            guard queue >= 0 else { throw SocketError(errno: errno, "no kqueue descriptor") }
            _ = fcntl(queue, F_SETFD, FD_CLOEXEC)
            events = .allocate(capacity: Self.capacity)
            let error = change([Self.entry(0, EVFILT_USER, EV_ADD | EV_CLEAR, token: 0)])
            if error != 0 {
                close(queue)
                events.deallocate()
                throw SocketError(errno: error, "the loop's wake-up can't be watched")
            }
        }

        deinit {
            close(queue)
            events.deallocate()
        }

        func add(_ descriptor: Int32, token: UInt64, for interest: PollInterest) throws(SocketError) {
            let ident = UInt(descriptor)
            var entries = [Self.entry(ident, EVFILT_READ, EV_ADD | EV_CLEAR, token: token)]
            if interest == .stream { entries.append(Self.entry(ident, EVFILT_WRITE, EV_ADD | EV_CLEAR, token: token)) }
            let error = change(entries)
            if error != 0 {
                remove(descriptor)
                throw SocketError(errno: error, "the descriptor \(descriptor) can't be watched")
            }
        }

        /// Before the descriptor is closed. A filter that isn't there is no failure.
        func remove(_ descriptor: Int32) {
            for filter in [EVFILT_READ, EVFILT_WRITE] { _ = change([Self.entry(UInt(descriptor), filter, EV_DELETE, token: 0)]) }
        }

        /// Ends a wait, this one or the next. From any thread.
        func wake() {
            // A trigger overwrites the entry's user data, so the filter tells wake-ups apart, not the token.
            var entry = Self.entry(0, EVFILT_USER, 0, token: 0)
            entry.fflags = UInt32(NOTE_TRIGGER)
            while kevent(queue, &entry, 1, nil, 0, nil) < 0, errno == EINTR {}
        }

        /// Waits, for ever if `nanoseconds` is negative; how many events there are. Spurious and repeated ones are harmless: who is told
        /// reads until it would block.
        func wait(nanoseconds: Int64) -> Int {
            var limit = timespec(tv_sec: Int(max(0, nanoseconds) / 1_000_000_000), tv_nsec: Int(max(0, nanoseconds) % 1_000_000_000))
            let count =
                nanoseconds < 0
                ? kevent(queue, nil, 0, events, Int32(Self.capacity), nil)
                : kevent(queue, nil, 0, events, Int32(Self.capacity), &limit)
            precondition(count >= 0 || errno == EINTR, "kevent failed: its descriptor was closed by other code in this process")
            return Int(max(0, count))
        }

        /// An event that the last wait found. A wake-up has a token that no target has.
        subscript(index: Int) -> (token: UInt64, events: PollEvents) {
            let event = events[index]
            if Int32(event.filter) == EVFILT_USER { return (UInt64.max, []) }
            var found: PollEvents = Int32(event.filter) == EVFILT_WRITE ? .writable : .readable
            // The end of either direction, a refused connect and a reset all come as EOF.
            if Int32(event.flags) & EV_EOF != 0 { found.insert(.hangUp) }
            return (UInt64(UInt(bitPattern: event.udata)), found)
        }

        /// Makes changes; the first error number, or 0.
        private func change(_ entries: [kevent]) -> Int32 {
            for entry in entries {
                var entry = entry
                // With EV_RECEIPT the answer fills the entry, and its data is the error number.
                entry.flags |= UInt16(EV_RECEIPT)
                var answer = entry
                var result: Int32
                repeat { result = kevent(queue, &entry, 1, &answer, 1, nil) } while result < 0 && errno == EINTR
                if result < 0 { return errno }
                if answer.data != 0 { return Int32(truncatingIfNeeded: answer.data) }
            }
            return 0
        }

        private static func entry(_ ident: UInt, _ filter: Int32, _ flags: Int32, token: UInt64) -> kevent {
            var entry = kevent()
            entry.ident = ident
            entry.filter = Int16(filter)
            entry.flags = UInt16(flags)
            entry.udata = UnsafeMutableRawPointer(bitPattern: UInt(token))
            return entry
        }
    }
#endif
