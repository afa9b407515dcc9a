import LifelineCore

extension StreamCore: FlushTarget {
    /// Asks for a flush at the end of the loop's turn. From any thread.
    func scheduleFlush() {
        let loop = loop
        if loop.isCurrent { loop.flushLater(self) } else { loop.submit { loop.flushLater(self) } }
    }

    package func transportIsWritable() {
        isWriteBlocked = false
        flush()
    }

    /// Writes what the outbox has, until it is empty, the kernel takes no more or the others must have their turn.
    package func flush() {
        write(atMost: Self.readBudget)
        if counters.bytesOut >= watchedPlace {
            watchedPlace = .max
            watcher?.streamHasWritten()
        }
    }

    /// As ``flush()``, without regard to the others: for the last words of a stream that nobody will ask again.
    func flushAll() {
        isWriteBlocked = false
        write(atMost: .max)
    }

    private func write(atMost bound: Int) {
        guard machine.phase != .closed, machine.sending == .open || machine.sending == .finishing, !isWriteBlocked else { return }
        var budget = bound
        while true {
            guard outbox.exchange(written: unreported, into: &unwritten) else { return }  // The sender at it will ask again.
            unreported = 0
            if unwritten.isEmpty {
                deadlines[.write] = .never
                perform(machine.drained())
                return
            }
            let written: Int
            do throws(SocketError) {
                written = unwritten.isOneRun ? try transport.write(unwritten.first) : try transport.write(unwritten.regions)
            } catch {
                writeFailed(error)
                return
            }
            advance(written)
            if !unwritten.isEmpty {
                isWriteBlocked = true
                if written > 0 || deadlines[.write] == .never, let limit = options.writeLimit {
                    deadlines[.write] = loop.now.advanced(by: limit)
                    rearm()
                }
                reportWritten()
                return
            }
            budget -= written
            if budget <= 0 {
                loop.flushLater(self)
                return
            }
        }
    }

    /// Tells the outbox what was written, and keeps what it has for later.
    private func reportWritten() {
        guard unreported > 0, outbox.exchange(written: unreported, into: &unwritten) else { return }
        unreported = 0
    }

    private func advance(_ written: Int) {
        counters.bytesOut &+= UInt64(written)
        unreported += written
        unwritten.advance(written) { loop.blocks.add(&$0) }
    }

    private func writeFailed(_ error: SocketError) {
        writeError = error
        perform(machine.writeFailed())
        guard machine.phase != .closed else { return }
        // What the peer sent before can still be read, and then tells how it ended.
        isReadDue = true
        readSoon()
    }
}
