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
        Check("a write that is short by a single byte makes a notice, too") { bench in
            try await bench.start()
            let (near, far) = (bench.near, bench.far)
            let chunk = 64 * 1024
            while try near.write(chunk) == chunk, near.sent < 256 * 1024 * 1024 {}
            // So much there is room for, exactly so much where the bound is a number of bytes.
            let room = near.sent
            for size in [room + 1, room] {
                try await far.read(upTo: near.sent)
                try await bench.turns(3)
                near.forgetNotices()
                var isShort = try near.write(size) < size
                if !isShort { isShort = try near.write(1) == 0 }
                try await far.read(upTo: near.sent)
                if isShort { try await near.untilWritable("a writable notice after a short write, all of which was read") }
            }
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

    /// Writes and reads in portions of random sizes and in random order, each side as long as it may and again after its notice.
    private static func exchange(
        _ total: Int, sizes: ClosedRange<Int>, regions: ClosedRange<Int>, _ bench: isolated ConformanceBench
    ) async throws {
        var dice = SeededGenerator(seed: UInt64(total))
        let (near, far) = (bench.near, bench.far)
        var mayWrite = true
        var mayRead = true
        while far.received < total {
            // So that a notice comes while the peer is in the middle of reading.
            if Int.random(in: 0..<4, using: &dice) == 0 { try await bench.turns(1) }
            mayWrite = mayWrite || near.writables > 0
            mayRead = mayRead || far.readables > 0
            let canWrite = mayWrite && near.sent < total
            if canWrite, !mayRead || Bool.random(using: &dice) {
                near.forgetNotices()
                let size = min(total - near.sent, Int.random(in: sizes, using: &dice))
                mayWrite = try near.write(size, regionSize: Int.random(in: regions, using: &dice)) == size
            } else if mayRead {
                far.forgetNotices()
                switch try far.read(Int.random(in: sizes, using: &dice)) {
                case .bytes(_, let more): mayRead = more
                case .wouldBlock: mayRead = false
                case .end, .cut: throw ConformanceProblem(description: "an end that nobody made, at \(far.received) bytes")
                }
            } else if far.received < near.sent {
                try await far.untilReadable("the bytes from \(far.received) to \(near.sent)")
            } else {
                try await near.untilWritable("a writable notice after a short write, all of which was read")
            }
        }
        try expect(far.received == total, "\(far.received) bytes came of \(total)")
    }
}
