internal import LifelineCore
internal import LifelineRuntime

extension TransportConformance {
    static let ending: [Check] = [
        Check("half-close: the peer reads everything and the end, and may go on writing") { bench in
            try await bench.start()
            let (near, far) = (bench.near, bench.far)
            try await near.writeAll(1000)
            near.shutdownWrites()
            try await far.readToEnd()
            try expect(far.received == 1000, "\(far.received) of 1000 bytes were read before the end")
            try expect(try far.read() == .end, "a read after the end gave something else")
            try await far.writeAll(500)
            try await near.read(upTo: 500)
            far.shutdownWrites()
            try await near.readToEnd()
        },
        Check("an end right behind bytes is told") { bench in
            try await bench.start()
            _ = try bench.far.read()
            try await bench.near.writeAll(5)
            bench.near.shutdownWrites()
            try await bench.turns(3)
            try await bench.far.readToEnd()
            try expect(bench.far.received == 5, "\(bench.far.received) of 5 bytes were read before the end")
        },
        Check("writing after this side's end fails, and ending it twice is harmless") { bench in
            try await bench.start()
            bench.near.shutdownWrites()
            bench.near.shutdownWrites()
            try await bench.far.readToEnd()
            bench.near.shutdownWrites()
            try expectWriteFails(bench.near)
            try await bench.far.writeAll(10)
            try await bench.near.read(upTo: 10)
        },
        Check("a reader that waits is told of the peer's close") { bench in
            try await bench.start()
            try expect(try bench.far.read() == .wouldBlock, "a read without a byte didn't say that it would block")
            bench.near.close()
            try await bench.far.untilReadable("a notice for the peer's close")
            try await bench.far.readToEnd()
        },
        Check("closing gives the peer every byte and then the end") { bench in
            try await bench.start()
            let (near, far) = (bench.near, bench.far)
            // As much as is taken at once.
            while try near.write(32 * 1024) == 32 * 1024, near.sent < 1_000_000 {}
            near.close()
            try await far.readToEnd()
            try expect(far.received == near.sent, "\(far.received) of \(near.sent) bytes were read before the end")
        },
        Check("closing with a reset tells the peer") { bench in
            try await bench.start()
            try expect(try bench.far.read() == .wouldBlock, "a read without a byte didn't say that it would block")
            bench.near.close(reset: true)
            try await expectReset(bench.far, told: bench.tellsResets)
        },
        Check("a reset isn't taken for an end, whether the bytes before it arrive or not") { bench in
            try await bench.start()
            try await bench.near.writeAll(100)
            bench.near.close(reset: true)
            try await expectReset(bench.far, told: bench.tellsResets)
            try expect([0, 100].contains(bench.far.received), "\(bench.far.received) of 100 bytes were read")
        },
        Check("after the close: no notice, no trap, and closing again is harmless") { bench in
            try await bench.start()
            let (near, far) = (bench.near, bench.far)
            _ = try far.read()
            try await near.writeAll(10)
            // A notice for these bytes is pending now, or will be.
            far.close()
            far.close()
            far.close(reset: true)
            far.shutdownWrites()
            far.askToRead()
            try await near.until("a notice for the peer's close") { $0.readables > 0 || $0.writables > 0 }
            try await bench.turns(3)
            try far.expectNoViolation()
            try expectWriteFails(far)
            do {
                let result = try far.read()
                throw ConformanceProblem(description: "a closed transport read \(result)")
            } catch is SocketError {}
        },
        Check("writing to a peer that has closed fails, with a type") { bench in
            try await bench.start()
            bench.far.close()
            for _ in 0..<10_000 {
                do {
                    try bench.near.write(1)
                } catch let error as SocketError {
                    try expect(
                        error.code == .reset || error.code == .closed, "the failure is “\(error)”, not a reset or a closed connection")
                    return
                }
                try await bench.turns(1)
            }
            throw ConformanceProblem(description: "10,000 writes to a closed peer were taken")
        },
        Check("both ends may close at once") { bench in
            try await bench.start()
            try await bench.near.writeAll(10)
            try await bench.far.writeAll(10)
            bench.near.close()
            bench.far.close()
            try await bench.turns(3)
        },
    ]

    private static func expectWriteFails(_ end: ConformanceEnd) throws {
        do {
            let taken = try end.write(1)
            throw ConformanceProblem(description: "a write after this side's end took \(taken) bytes")
        } catch is SocketError {}
    }

    private static func expectReset(_ end: ConformanceEnd, told: Bool) async throws {
        do {
            try await end.readToEnd()
            try expect(!told, "a reset looks like an end in good order")
        } catch let error as SocketError {
            try expect(error.code == .reset, "the failure is “\(error)”, not a reset")
        }
    }
}
