/// What one load measured, or the medians of several. What does not apply is nil.
struct Figures: Sendable {
    var ratio: Double?
    var rate: Double?
    var p50us: Double?
    var p99us: Double?
    var p999us: Double?
    /// The share of the time the server used its core.
    var busy: Double?
    /// Memory for each idle connection.
    var bytes: Double?
    var bytesAfterEcho: Double?

    /// From the line a load prints.
    init(line: String) throws {
        let words = line.split(separator: " ")
        for index in stride(from: 0, to: words.count - 1, by: 2) {
            guard let value = Double(words[index + 1]) else { throw Trouble("what is \(words[index + 1])?") }
            switch words[index] {
            case "rate": rate = value
            case "p50us": p50us = value
            case "p99us": p99us = value
            case "p999us": p999us = value
            case "bytes": bytes = value
            case "bytesAfterEcho": bytesAfterEcho = value
            default: throw Trouble("what is \(words[index])?")
            }
        }
    }

    /// The median of each figure on its own.
    init(medianOf all: [Figures]) {
        func median(_ figure: (Figures) -> Double?) -> Double? {
            let values = all.compactMap(figure).sorted()
            guard !values.isEmpty else { return nil }
            let middle = values.count / 2
            return values.count.isMultiple(of: 2) ? (values[middle - 1] + values[middle]) / 2 : values[middle]
        }
        ratio = median(\.ratio)
        rate = median(\.rate)
        p50us = median(\.p50us)
        p99us = median(\.p99us)
        p999us = median(\.p999us)
        busy = median(\.busy)
        bytes = median(\.bytes)
        bytesAfterEcho = median(\.bytesAfterEcho)
    }
}
