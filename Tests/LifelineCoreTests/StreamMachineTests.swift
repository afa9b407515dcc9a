import LifelineCore
import Testing

@Suite("The life of a stream")
struct StreamMachineTests {
    private typealias Actions = StreamMachine.Actions
    private let failure = SocketError(.reset, "x")

    @Test("an end that the peer hasn't announced is an end, but not a complete one")
    func unannouncedEnd() {
        var machine = StreamMachine()
        _ = machine.finishSending()
        _ = machine.drained()
        #expect(machine.peerEnded(isCut: true) == [.endReading, .refuseSends, .close])
        #expect(machine.reason == .closedByPeer)
        #expect(!machine.isComplete)
    }

    @Test("an end that is wrong is the stream's, and what was read before it isn't thrown away")
    func wrongEnd() {
        var machine = StreamMachine()
        let error = SocketError(.truncated, "in a frame")
        let actions = machine.peerEnded(isCut: true, because: error)
        #expect(actions == [.endReading, .refuseSends, .armLinger, .flush])
        #expect(machine.reason == .failed(error))
        #expect(machine.phase == .closing)
        #expect(machine.drained() == [.shutdownWrites, .endReading, .refuseSends, .close])
    }

    @Test("this side ends first, then the peer")
    func oursThenTheirs() {
        var machine = StreamMachine()
        #expect(machine.finishSending() == [.refuseSends, .flush])
        #expect(machine.sending == .finishing && machine.phase == .live && machine.reason == nil)
        #expect(machine.finishSending() == [])
        #expect(machine.drained() == .shutdownWrites)
        #expect(machine.sending == .finished && !machine.isComplete)
        #expect(machine.drained() == [])
        #expect(machine.peerEnded() == [.endReading, .refuseSends, .close])
        #expect(machine.isComplete && machine.phase == .closed && machine.reason == .closedByPeer)
        #expect(machine.peerEnded() == [])
    }

    @Test("the peer ends first, then this side")
    func theirsThenOurs() {
        var machine = StreamMachine()
        #expect(machine.peerEnded() == [.endReading, .armHalfOpen])
        #expect(machine.receiving == .ended && machine.phase == .live)
        #expect(machine.drained() == [])
        #expect(machine.finishSending() == [.refuseSends, .flush])
        #expect(machine.halfOpenLimit() == [])
        #expect(machine.drained() == [.shutdownWrites, .endReading, .refuseSends, .close])
        #expect(machine.isComplete && machine.reason == .closedByPeer)
    }

    @Test("the half-open limit closes in good order and keeps the reason")
    func halfOpenLimit() {
        var machine = StreamMachine()
        #expect(machine.halfOpenLimit() == [])
        _ = machine.peerEnded()
        #expect(machine.halfOpenLimit() == [.endReading, .refuseSends, .armLinger, .flush])
        #expect(machine.phase == .closing)
        #expect(machine.drained().contains(.close))
        #expect(machine.reason == .closedByPeer)
    }

    @Test("a close in good order: flush, half-close, discard until the peer's end")
    func close() {
        var machine = StreamMachine()
        #expect(machine.close() == [.endReading, .refuseSends, .armLinger, .flush, .discardInput])
        #expect(machine.phase == .closing && machine.receiving == .discarding && machine.reason == .closedHere)
        #expect(machine.close() == [])
        #expect(machine.finishSending() == [])
        #expect(machine.stopReading(because: .shuttingDown) == [])
        #expect(machine.drained() == .shutdownWrites)
        #expect(machine.peerEnded() == [.endReading, .refuseSends, .close])
        #expect(machine.isComplete && machine.reason == .closedHere)
    }

    @Test("a close in good order in which the peer's end comes before all is sent")
    func closeCrossing() {
        var machine = StreamMachine()
        _ = machine.close()
        #expect(machine.peerEnded() == [])
        #expect(machine.phase == .closing && machine.reason == .closedHere)
        #expect(machine.drained() == [.shutdownWrites, .endReading, .refuseSends, .close])
        #expect(machine.isComplete)
    }

    @Test("a close after this side has finished doesn't flush again")
    func closeAfterFinishing() {
        var machine = StreamMachine()
        _ = machine.finishSending()
        #expect(machine.close() == [.endReading, .refuseSends, .armLinger, .discardInput])
        #expect(machine.drained() == .shutdownWrites)
        var finished = StreamMachine()
        _ = finished.finishSending()
        _ = finished.drained()
        #expect(finished.close() == [.endReading, .refuseSends, .armLinger, .discardInput])
        #expect(finished.peerEnded().contains(.close))
    }

    @Test("stopped reading ends reading alone, and a close discards what comes")
    func stopReading() {
        var machine = StreamMachine()
        #expect(machine.stopReading(because: .shuttingDown) == .endReading)
        #expect(machine.receiving == .stopped && machine.sending == .open && machine.phase == .live)
        #expect(machine.stopReading(because: .closedHere) == [])
        #expect(machine.close() == [.endReading, .refuseSends, .armLinger, .flush, .discardInput])
        #expect(machine.receiving == .discarding && machine.reason == .shuttingDown)
    }

    @Test("a peer's end while reading is stopped keeps the reason")
    func endWhileStopped() {
        var machine = StreamMachine()
        _ = machine.stopReading(because: .shuttingDown)
        #expect(machine.peerEnded() == .armHalfOpen)
        #expect(machine.reason == .shuttingDown)
    }

    @Test("a violation closes in good order, with its reason", arguments: [true, false])
    func violation(peerEnds: Bool) {
        var machine = StreamMachine()
        #expect(machine.close(because: .failed(failure)).isSuperset(of: [.endReading, .flush, .discardInput]))
        #expect(machine.reason == .failed(failure))
        _ = machine.drained()
        if peerEnds {
            #expect(machine.peerEnded().contains(.close))
        } else {
            #expect(machine.lingerLimit(error: SocketError(.system, "y"), losing: false).contains(.close))
        }
        #expect(machine.reason == .failed(failure) && machine.phase == .closed)
        #expect(machine.isComplete == peerEnds)
    }

    @Test("the limit of a close: a reset if something is lost", arguments: [true, false])
    func lingerLimit(losing: Bool) {
        var machine = StreamMachine()
        _ = machine.close()
        #expect(
            machine.lingerLimit(error: failure, losing: losing)
                == [.endReading, .refuseSends, .dropOutbox, losing ? .reset : .close])
        #expect(machine.phase == .closed && !machine.isComplete && machine.reason == .closedHere)
        #expect(machine.lingerLimit(error: failure, losing: losing) == [])
    }

    @Test("a close at once, in each phase", arguments: [true, false])
    func closeNow(losing: Bool) {
        let all: Actions = [.endReading, .refuseSends, .dropOutbox, losing ? .reset : .close]
        var live = StreamMachine()
        #expect(live.closeNow(losing: losing) == all)
        #expect(live.reason == .closedHere && live.closeNow(losing: losing) == [])
        var closing = StreamMachine()
        _ = closing.close(because: .shuttingDown)
        #expect(closing.closeNow(losing: losing) == all)
        #expect(closing.reason == .shuttingDown)
    }

    @Test("a failed read ends all; the first reason holds")
    func failed() {
        var machine = StreamMachine()
        #expect(machine.failed(failure) == [.endReading, .refuseSends, .dropOutbox, .close])
        #expect(machine.reason == .failed(failure) && machine.phase == .closed)
        var ended = StreamMachine()
        _ = ended.peerEnded()
        #expect(ended.failed(failure).contains(.close))
        #expect(ended.reason == .closedByPeer)
    }

    @Test("a failed write leaves reading to find the end, within a limit")
    func writeFailed() {
        var machine = StreamMachine()
        #expect(machine.writeFailed() == [.refuseSends, .dropOutbox, .armLinger])
        #expect(machine.sending == .broken && machine.phase == .live && machine.reason == nil)
        #expect(machine.finishSending() == [])
        #expect(machine.drained() == [])
        var ended = machine
        #expect(ended.peerEnded() == [.endReading, .refuseSends, .close])
        #expect(ended.reason == .closedByPeer && !ended.isComplete)
        var limited = machine
        #expect(limited.lingerLimit(error: failure, losing: false).contains(.close))
        #expect(limited.reason == .failed(failure))
        var closed = machine
        #expect(closed.close() == [.endReading, .refuseSends, .armLinger, .discardInput])
        #expect(closed.peerEnded().contains(.close))
    }

    @Test("a failed write after the peer's end ends all")
    func writeFailedAfterEnd() {
        var machine = StreamMachine()
        _ = machine.peerEnded()
        #expect(machine.writeFailed().isSuperset(of: [.endReading, .refuseSends, .dropOutbox, .close]))
        #expect(machine.phase == .closed && !machine.isComplete)
    }

    @Test("nothing happens after the end")
    func afterTheEnd() {
        var machine = StreamMachine()
        _ = machine.closeNow(losing: false)
        #expect(machine.finishSending() == [])
        #expect(machine.drained() == [])
        #expect(machine.peerEnded() == [])
        #expect(machine.stopReading(because: .shuttingDown) == [])
        #expect(machine.close() == [])
        #expect(machine.closeNow(losing: true) == [])
        #expect(machine.failed(failure) == [])
        #expect(machine.writeFailed() == [])
        #expect(machine.halfOpenLimit() == [])
        #expect(machine.reason == .closedHere)
    }
}
