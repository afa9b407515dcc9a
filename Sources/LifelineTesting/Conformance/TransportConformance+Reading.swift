internal import LifelineRuntime

extension TransportConformance {
    static let reading: [Check] = [
        Check("a read that would block is followed by a notice") { bench in
            try await bench.start()
            let (near, far) = (bench.near, bench.far)
            try expect(try far.read() == .wouldBlock, "a read without a byte didn't say that it would block")
            for round in 1...3 {
                far.forgetNotices()
                try near.write(5)
                try await far.untilReadable()
                try await bench.turns(1)
                guard case .bytes(5, let more) = try far.read() else {
                    throw ConformanceProblem(description: "in round \(round) the five bytes weren't there after the notice")
                }
                if more { try expect(try far.read() == .wouldBlock, "a sixth byte was read") }
            }
        },
        Check("after the last byte a read would block") { bench in
            try await bench.start()
            try bench.near.write(100)
            try await bench.far.untilReadable()
            try await bench.turns(2)
            while bench.far.received < 100 { _ = try bench.far.read() }
            try expect(try bench.far.read() == .wouldBlock, "more than 100 bytes were read")
            try expect(try bench.far.read() == .wouldBlock, "a second read would not block")
        },
        Check("a small buffer takes what fits and says that there is more") { bench in
            try await bench.start()
            try bench.near.write(100)
            try await bench.far.untilReadable()
            try await bench.turns(2)
            for _ in 0..<9 {
                try expect(try bench.far.read(10) == .bytes(10, more: true), "ten bytes of many weren't read with more to come")
            }
            guard case .bytes(10, _) = try bench.far.read(10) else {
                throw ConformanceProblem(description: "the last ten bytes weren't there")
            }
        },
        Check("asking to read after leaving off gives a notice") { bench in
            try await bench.start()
            try bench.near.write(100)
            try await bench.far.untilReadable()
            try await bench.turns(2)
            for _ in 0..<3 {
                _ = try bench.far.read(10)
                bench.far.forgetNotices()
                bench.far.askToRead()
                try await bench.far.untilReadable("a notice for the bytes that it left")
            }
            try await bench.far.read(upTo: 100)
        },
        Check("asking to read without a byte gives no notice, until there is one") { bench in
            try await bench.start()
            _ = try bench.far.read()
            bench.far.askToRead()
            try await bench.turns(3)
            try expect(bench.far.readables == 0, "a notice came and there was nothing to read")
            try bench.near.write(1)
            try await bench.far.untilReadable()
            try await bench.far.read(upTo: 1)
        },
        Check("at most one readable notice is pending") { bench in
            try await bench.start()
            _ = try bench.far.read()
            for _ in 0..<50 {
                try bench.near.write(3)
                bench.far.askToRead()
            }
            try await bench.far.untilReadable()
            try await bench.turns(3)
            // Bytes may become readable in two portions on their way through a kernel, hardly in more.
            try expect(bench.far.readables <= 2, "one turn's bytes gave \(bench.far.readables) notices")
            // The smallest buffers haven't room for all of them.
            try await bench.far.read(upTo: bench.near.sent)
        },
    ]
}
