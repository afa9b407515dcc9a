import LifelineCore
import Testing

@testable import LifelineRuntime

@Suite("What is being written")
struct WriteQueueTests {
    /// Small bytes, then such as are taken by reference, then small ones: three runs.
    private func output(_ number: Int) -> ByteOutput {
        var output = ByteOutput()
        output.append(UInt32(number), .big)
        output.append(pattern(20_000, from: number))
        output.append(UInt8(truncatingIfNeeded: number))
        return output
    }

    private func bytes(_ queue: WriteQueue) -> [UInt8] { queue.isEmpty ? [] : queue.regions.flatMap { Array($0) } }

    @Test("bytes leave in order, however many are written at a time", arguments: [1, 3, 4, 5, 7000, 20_004, 20_005, 50_000])
    func order(step: Int) {
        var queue = WriteQueue()
        var expected: [UInt8] = []
        for number in 0..<3 {
            let bytes = output(number).finish()
            expected += Array(bytes)
            queue.append(output(number))
        }
        // By single bytes it would take too long everywhere but at the seams.
        var written = 0
        while written < expected.count {
            let isNearSeam = step > 100 || [0, 4, 20_004, 20_005].contains { abs(written % 20_005 - $0) < 10 }
            let count = min(isNearSeam ? step : 1000, expected.count - written)
            queue.advance(count) { _ in }
            written += count
            #expect(queue.regions.first?.first == (written < expected.count ? expected[written] : nil))
            #expect(queue.isEmpty == (written == expected.count))
        }
        #expect(bytes(queue) == [])
    }

    @Test("a run that is written is nobody's any more, wherever it stood")
    func letGo() {
        var queue = WriteQueue()
        queue.append(output(1))
        queue.append(output(2))
        let total = queue.regions.reduce(0) { $0 + $1.count }
        var spares = SpareBlocks()
        queue.advance(1) { _ in Issue.record("the first run isn't through") }
        queue.advance(30_000 - 1) { spares.add(&$0) }
        #expect((20_000..<21_000).contains(spares.keptBytes))
        queue.advance(total - 30_000) { spares.add(&$0) }
        #expect((40_000..<42_000).contains(spares.keptBytes))
        #expect(queue.isEmpty && queue.isOneRun)
    }

    @Test("a queue that never runs empty doesn't grow")
    func neverEmpty() {
        var queue = WriteQueue()
        queue.append(output(0))
        for number in 1...1000 {
            queue.append(output(number))
            queue.advance(20_005) { _ in }
            #expect(queue.regions.count == 3)
        }
        #expect(bytes(queue) == Array(output(1000).finish()))
    }
}
