/// What one codec took, as medians over the rounds. Ratios are to copying in the same round.
struct CodecOutcome {
    struct Way {
        var nanosecondsPerFrame = 0.0
        var gigabytesPerSecond = 0.0
        /// The share of the speed at which the same bytes are copied.
        var ratio = 0.0
    }

    let name: String
    let bytesPerFrame: Double
    let decode: Way
    let encode: Way
}

/// Measures codecs on bytes in memory, without any connection.
struct CodecComparison {
    let seconds: Double
    let rounds: Int

    func run(_ codec: CodecCase) throws -> CodecOutcome {
        let copying = Copying(byteCount: codec.bytes)
        defer { copying.release() }
        var decode: [CodecOutcome.Way] = []
        var encode: [CodecOutcome.Way] = []
        guard try codec.decode() == codec.frames, try codec.encode() >= codec.bytes else {
            throw Trouble("\(codec.name) doesn't read what it writes")
        }
        for _ in 0..<rounds {
            let limit = time { copying.pass() }
            decode.append(way(codec, try time { try codec.decode() }, limit))
            encode.append(way(codec, try time { try codec.encode() }, limit))
        }
        return CodecOutcome(
            name: codec.name, bytesPerFrame: Double(codec.bytes) / Double(codec.frames),
            decode: Self.median(decode), encode: Self.median(encode))
    }

    private func way(_ codec: CodecCase, _ pass: Double, _ limit: Double) -> CodecOutcome.Way {
        CodecOutcome.Way(
            nanosecondsPerFrame: pass * 1e9 / Double(codec.frames), gigabytesPerSecond: Double(codec.bytes) / pass / 1e9,
            ratio: limit / pass)
    }

    private static func median(_ ways: [CodecOutcome.Way]) -> CodecOutcome.Way {
        func middle(_ figure: (CodecOutcome.Way) -> Double) -> Double { ways.map(figure).sorted()[ways.count / 2] }
        return CodecOutcome.Way(
            nanosecondsPerFrame: middle(\.nanosecondsPerFrame), gigabytesPerSecond: middle(\.gigabytesPerSecond), ratio: middle(\.ratio))
    }

    /// The seconds that one pass takes, of as many as fit into the time: the mean, as a pass may be short.
    func time(_ pass: () throws -> Int) rethrows -> Double {
        use(try pass())
        let clock = ContinuousClock()
        let start = clock.now
        var passes = 0
        var elapsed = Duration.zero
        repeat {
            use(try pass())
            passes += 1
            elapsed = start.duration(to: clock.now)
        } while elapsed < .seconds(seconds)
        return elapsed / .seconds(1) / Double(passes)
    }
}
