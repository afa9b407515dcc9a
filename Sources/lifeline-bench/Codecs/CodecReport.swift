extension Report {
    func text(of outcomes: [CodecOutcome]) -> String {
        switch self {
        case .json: outcomes.map(Self.object).joined(separator: "\n")
        case .table: Self.table(of: outcomes)
        }
    }

    func text(of searches: [SearchOutcome], title: String) -> String {
        switch self {
        case .json:
            return searches.map {
                "{\"search\":\"\($0.name)\",\"ms\":\($0.milliseconds.fixed(4)),\"ratio\":\($0.ratio.map { $0.fixed(3) } ?? "null")}"
            }.joined(separator: "\n")
        case .table:
            var lines = [title, "  " + "".padded(to: 34) + "ms".aligned(to: 10) + "× C".aligned(to: 10)]
            for search in searches {
                lines.append(
                    "  " + search.name.padded(to: 34) + search.milliseconds.fixed(3).aligned(to: 10)
                        + (search.ratio.map { $0.fixed(2) } ?? "-").aligned(to: 10))
            }
            return lines.joined(separator: "\n") + "\n"
        }
    }

    private static func object(of outcome: CodecOutcome) -> String {
        func members(_ name: String, _ way: CodecOutcome.Way) -> String {
            "\"\(name)\":{\"ns\":\(way.nanosecondsPerFrame.fixed(2)),\"GBps\":\(way.gigabytesPerSecond.fixed(3)),"
                + "\"ofMemcpy\":\(way.ratio.fixed(4))}"
        }
        return "{\"codec\":\"\(outcome.name)\",\"bytesPerFrame\":\(outcome.bytesPerFrame.fixed(1)),"
            + "\(members("decode", outcome.decode)),\(members("encode", outcome.encode))}"
    }

    private static func table(of outcomes: [CodecOutcome]) -> String {
        let heads = ["ns/frame", "GB/s", "of memcpy"]
        var lines = [
            "codecs (decode, then encode; ratio: to memcpy of the same bytes in the same round)",
            "  " + "codec".padded(to: 28) + (heads + heads).map { $0.aligned(to: 11) }.joined(),
        ]
        for outcome in outcomes {
            let cells = [outcome.decode, outcome.encode].flatMap {
                [$0.nanosecondsPerFrame.fixed(1), $0.gigabytesPerSecond.fixed(2), $0.ratio.fixed(3)]
            }
            lines.append("  " + outcome.name.padded(to: 28) + cells.map { $0.aligned(to: 11) }.joined())
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
