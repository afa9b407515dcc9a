#if !canImport(Darwin)
    import CLifelineSystem
    import LifelineCore

    /// Linux's epoll, edge-triggered: a descriptor is registered once, and nothing is changed while it lives.
    ///
    /// The proof behind `@unchecked`: the descriptors never change; `events` is used on the loop's thread only, by ``wait(nanoseconds:)`` and the
    /// subscript.
    final class Poller: @unchecked Sendable {
        private let epoll: Int32
        private let wakeUp: Int32
        private let events: UnsafeMutablePointer<lls_event>
        private static let capacity = 64
        private static let wakeUpToken = UInt64.max  // no slot has this number

        init() throws(SocketError) {
            epoll = lls_epoll_create()
            guard epoll >= 0 else { throw SocketError(errno: -epoll, "no epoll descriptor") }
            wakeUp = lls_eventfd()
            guard wakeUp >= 0 else {
                _ = lls_close(epoll)
                throw SocketError(errno: -wakeUp, "no event descriptor")
            }
            let added = lls_epoll_add_input(epoll, wakeUp, Self.wakeUpToken)
            guard added >= 0 else {
                _ = lls_close(epoll)
                _ = lls_close(wakeUp)
                throw SocketError(errno: -added, "the event descriptor can't be watched")
            }
            events = .allocate(capacity: Self.capacity)
        }

        deinit {
            _ = lls_close(wakeUp)
            _ = lls_close(epoll)
            events.deallocate()
        }

        func add(_ descriptor: Int32, token: UInt64, for interest: PollInterest) throws(SocketError) {
            let result =
                switch interest {
                case .stream: lls_epoll_add_stream(epoll, descriptor, token)
                case .accepts: lls_epoll_add_input(epoll, descriptor, token)
                }
            if result < 0 { throw SocketError(errno: -result, "the descriptor \(descriptor) can't be watched") }
        }

        /// Needed only where the open file outlives the descriptor: closing the last one removes it.
        func remove(_ descriptor: Int32) { _ = lls_epoll_remove(epoll, descriptor) }

        /// Ends a wait, this one or the next. From any thread.
        func wake() { _ = lls_eventfd_signal(wakeUp) }

        /// Waits, for ever if `nanoseconds` is negative; how many events there are.
        func wait(nanoseconds: Int64) -> Int {
            let count = lls_epoll_wait(epoll, events, Int32(Self.capacity), nanoseconds)
            // A failure here is a descriptor that isn't one any more: somebody closed what wasn't theirs, and every wait would fail.
            precondition(count >= 0, "epoll_wait failed with errno \(-count): its descriptor was closed by other code in this process")
            return Int(count)
        }

        /// An event that the last wait found. A wake-up has a token that no target has.
        subscript(index: Int) -> (token: UInt64, events: PollEvents) {
            (events[index].token, PollEvents(rawValue: events[index].events))
        }
    }
#endif
