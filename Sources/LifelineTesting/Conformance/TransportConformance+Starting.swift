internal import LifelineRuntime

extension TransportConformance {
    static let starting: [Check] = [
        Check("bytes from before the start are told after it") { bench in
            bench.near.start()
            try await bench.near.writeAll(10)
            try await bench.turns(3)
            try expect(bench.far.readables == 0, "a notice came before the start")
            bench.far.start()
            try expect(bench.far.readables == 0, "a notice came from inside start")
            try await bench.far.untilReadable("a notice for bytes from before the start")
            try await bench.far.read(upTo: 10)
        },
        Check("an end from before the start is told after it") { bench in
            bench.near.start()
            try await bench.near.writeAll(10)
            bench.near.close()
            try await bench.turns(3)
            bench.far.start()
            try await bench.far.untilReadable("a notice for an end from before the start")
            try await bench.far.readToEnd()
            try expect(bench.far.received == 10, "\(bench.far.received) of 10 bytes were read")
        },
        Check("a transport that is never started can be closed") { bench in
            bench.near.start()
            bench.far.close()
            try await bench.near.untilReadable("a notice for the end of a peer that never started")
            try await bench.near.readToEnd()
        },
        Check("the handler is held until the close, and no longer") { bench in
            final class Handler: TransportHandler {
                func transportIsReadable() {}
                func transportIsWritable() {}
            }
            weak var handler: Handler?
            do {
                let made = Handler()
                handler = made
                bench.near.start(made)
            }
            try await bench.turns(2)
            try expect(handler != nil, "the handler wasn't held")
            bench.near.close()
            try await bench.turns(2)
            try expect(handler == nil, "the handler is still held after the close")
        },
        Check("endpoints and facts may be asked for at any time") { bench in
            let ends = [bench.near, bench.far]
            func ask() {
                for end in ends {
                    _ = (end.transport.localEndpoint, end.transport.remoteEndpoint, end.transport.tcpInfo)
                }
            }
            ask()
            try await bench.start()
            ask()
            bench.near.close(reset: true)
            try await bench.turns(2)
            ask()
            bench.far.close()
            ask()
        },
    ]
}
