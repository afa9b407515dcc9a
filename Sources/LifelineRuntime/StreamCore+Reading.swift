package import LifelineCore

extension StreamCore: TransportHandler, LoopNotice {
    package func transportIsReadable() {
        isReadDue = true
        if isReading { readTurn() }
    }

    /// A turn of reading that was put off.
    package func deliver() {
        isReadPosted = false
        if isReading, isReadDue { readTurn() }
    }

    /// Reads until nothing is left, the owner has no room or the others must have their turn.
    private func readTurn() {
        guard machine.phase != .closed, machine.receiving == .open || machine.receiving == .discarding else { return }
        var budget = Self.readBudget
        while isReading {
            let result: ReadResult
            do throws(SocketError) {
                result = try transport.read(into: storages.readBuffer(behind: input.count))
            } catch {
                isReadDue = false
                readFailed(error)
                return
            }
            switch result {
            case .wouldBlock:
                isReadDue = false
                return
            case .end, .cut:
                isReadDue = false
                readEnded(isCut: result == .cut)
                return
            case .bytes(let count, let more):
                isReadDue = more
                counters.bytesIn &+= UInt64(count)
                lastHeard = loop.turnTime
                if machine.receiving == .open {
                    input.append(read: count, from: storages)
                    owner?.streamHasInput()
                    guard machine.phase != .closed else { return }
                }
                if !more { return }
                budget -= count
                if budget <= 0 {
                    readSoon()
                    return
                }
            }
        }
    }

    /// Reads what has arrived up to this moment, whether or not the owner has asked for it. On the loop.
    func readWhatIsThere() {
        isReading = true
        isReadDue = true
        readTurn()
    }

    private func readEnded(isCut: Bool) {
        let error = machine.receiving == .open ? owner?.streamInputEnded(isCut: isCut) : nil
        perform(machine.peerEnded(isCut: isCut, because: error))
    }

    private func readFailed(_ error: SocketError) {
        perform(machine.failed(error))
    }

    /// Reads in the loop's next callback phase, behind the others.
    func readSoon() {
        guard isReadDue, !isReadPosted else { return }
        isReadPosted = true
        loop.post(self)
    }

    /// The owner has no room: the peer will have to wait. On the loop.
    package func pauseReading() { isReading = false }

    /// The owner has room again. On the loop.
    package func resumeReading() {
        guard !isReading else { return }
        isReading = true
        lastHeard = loop.now
        watcher?.streamIsReadOn()
        readSoon()
    }

    /// What the peer sent can't be accepted: after a last reply in good order the stream ends with `error`. On the loop.
    package func violated(_ error: SocketError) {
        perform(machine.close(because: .failed(error)))
    }

    /// Counts and tells what a decoder has noted in the input. On the loop.
    package func reportFindings() {
        guard input.hasFindings else { return }
        for finding in input.takeFindings() {
            counters.findings += 1
            options.onFinding?(finding)
        }
    }

    /// Begins, goes on with or ends the time that a frame may take; `isNew` if frames have been completed since the last call. On the loop.
    package func noteUnfinishedFrame(_ isUnfinished: Bool, isNew: Bool) {
        guard let limit = options.unfinishedFrameLimit, machine.receiving == .open else { return }
        if !isUnfinished {
            deadlines[.frame] = .never  // The timer finds out when it fires.
        } else if isNew || deadlines[.frame] == .never {
            deadlines[.frame] = loop.turnTime.advanced(by: limit)
            rearm()
        }
    }

    /// A first frame has arrived. On the loop.
    package func noteFrames(_ count: Int) {
        if counters.framesIn == 0, count > 0 { deadlines[.firstFrame] = .never }
        counters.framesIn &+= UInt64(count)
    }
}
