internal import LifelineCore
internal import LifelineRuntime

extension TransportConformance {
    private static let muchData = 10_000_000

    static let writing: [Check] = [
        Check("a peer that doesn't read makes writes short, and reading makes a notice") { bench in
            try await bench.start()
            let (near, far) = (bench.near, bench.far)
            let chunk = 64 * 1024
            while try near.write(chunk) == chunk {
                try expect(near.sent < 256 * 1024 * 1024, "256 MiB were taken though the peer reads nothing")
            }
            // What is on its way may still make room.
            try await bench.turns(3)
            near.forgetNotices()
            while try near.write(chunk) > 0 {
                try await bench.turns(1)
                try expect(near.sent < 256 * 1024 * 1024, "256 MiB were taken though the peer reads nothing")
            }
            near.forgetNotices()
            try await bench.turns(3)
            try expect(near.writables == 0, "a writable notice came though nothing was read")
            try await far.read(upTo: near.sent)
            try await near.untilWritable("a writable notice after the peer has read everything")
            try await bench.turns(3)
            try expect(near.writables <= 3, "reading gave \(near.writables) writable notices, and nothing was written in between")
            try expect(try near.write(1) == 1, "nothing could be written after the notice")
            try await far.read(upTo: near.sent)
        },
        Check("ten megabytes arrive in order, whatever the sizes of writes and reads") { bench in
            try await bench.start()
            try await Self.exchange(Self.muchData, sizes: 1...70_000, regions: 1...30_000, bench)
        },
        Check("small writes and small reads") { bench in
            try await bench.start()
            try await Self.exchange(20_000, sizes: 1...40, regions: 1...10, bench)
        },
        Check("both directions at once") { bench in
            try await bench.start()
            let (near, far) = (bench.near, bench.far)
            for round in 1...40 {
                let total = round * 30_000
                var isDone = false
                while !isDone {
                    if near.sent < total { try near.write(total - near.sent) }
                    if far.sent < total { try far.write(total - far.sent) }
                    for end in [near, far] where end.received < total {
                        if case .end = try end.read() { throw ConformanceProblem(description: "an end that nobody made") }
                    }
                    isDone = near.received == total && far.received == total
                    if !isDone { try await bench.turns(1) }
                }
            }
        },
        Check("thousands of regions in one write") { bench in
            try await bench.start()
            try await bench.near.writeAll(9_000, regionSize: 3)
            try await bench.far.read(upTo: 9_000)
        },
        Check("a write of nothing takes nothing") { bench in
            try await bench.start()
            try expect(try bench.near.write(0) == 0, "bytes were taken from nowhere")
            let empty = try bench.near.transport.write([[], []])
            try expect(empty == 0, "bytes were taken from nowhere")
            try await bench.near.writeAll(3)
            try await bench.far.read(upTo: 3)
        },
    ]

    /// Writes and reads in portions of random sizes, each side going on when it can.
    private static func exchange(
        _ total: Int, sizes: ClosedRange<Int>, regions: ClosedRange<Int>, _ bench: isolated ConformanceBench
    ) async throws {
        var dice = SeededGenerator(seed: UInt64(total))
        let (near, far) = (bench.near, bench.far)
        while far.received < total {
            var isWriting = near.sent < total
            while isWriting {
                let size = min(total - near.sent, Int.random(in: sizes, using: &dice))
                isWriting = try near.write(size, regionSize: Int.random(in: regions, using: &dice)) == size && near.sent < total
            }
            let isShort = near.sent < total
            if isShort { near.forgetNotices() }
            // Before a short write's notice everything has to be read; then the notice has to come.
            try await far.read(upTo: near.sent) { Int.random(in: sizes, using: &dice) }
            if isShort { try await near.untilWritable("a writable notice after a short write, all of which was read") }
        }
        try expect(far.received == total, "\(far.received) bytes came of \(total)")
    }
}
