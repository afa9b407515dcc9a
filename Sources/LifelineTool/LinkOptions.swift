import Lifeline

/// The options that say how a link is kept, and how each side shows that it lives.
struct LinkOptions: Sendable {
    /// `--reconnect`: when to connect again; nil for never.
    private(set) var policy: ReconnectPolicy?
    /// `--offline`: what becomes of lines that are typed without a connection.
    private(set) var offline = OfflineLines.wait
    /// `--kicked`: the frame by which a server says that it doesn't want this client any more.
    private(set) var kicked: String?
    /// `--heartbeat`: this side's beats.
    private(set) var heartbeat: String?
    /// `--answer`: the peer's pings, and what they are answered with.
    private(set) var answers: [String] = []
    /// `--ignore`: the peer's beats.
    private(set) var ignored: [String] = []
    /// `--idle`: the longest silence of the peer.
    private(set) var idleLimit: Duration?

    private var attempts: Int?
    /// Those that mean nothing without `--reconnect`.
    private var forLinks: [String] = []
    /// Those that mean nothing where there are no frames.
    private var forFrames: [String] = []

    /// Takes the option called `name` from `arguments`; false if it is none of these.
    mutating func take(_ name: String, from arguments: inout Arguments, for command: Command) throws(UsageError) -> Bool {
        switch name {
        case "--heartbeat": heartbeat = try arguments.value(of: name)
        case "--answer": answers.append(try arguments.value(of: name))
        case "--ignore": ignored.append(try arguments.value(of: name))
        case "--idle":
            let text = try arguments.value(of: name)
            guard let limit = Duration(seconds: text), limit > .zero else {
                throw UsageError("\(name) takes a number of seconds, not \(text)")
            }
            idleLimit = limit
            return true
        case _ where command == .connect: return try takeForLink(name, from: &arguments)
        default: return false
        }
        forFrames.append(name)
        return true
    }

    private mutating func takeForLink(_ name: String, from arguments: inout Arguments) throws(UsageError) -> Bool {
        switch name {
        case "--reconnect":
            policy = try arguments.attachedValue().map { text throws(UsageError) in try ReconnectPolicy.parsing(text) } ?? .exponential()
            return true
        case "--attempts":
            let text = try arguments.value(of: name)
            guard let count = Int(text), count > 0 else { throw UsageError("\(name) takes a number of attempts, not \(text)") }
            attempts = count
        case "--offline": offline = try OfflineLines(parsing: arguments.value(of: name))
        case "--kicked":
            kicked = try arguments.value(of: name)
            forFrames.append(name)
        default: return false
        }
        forLinks.append(name)
        return true
    }

    /// To be called behind the last option.
    mutating func finish(codec: String) throws(UsageError) {
        if policy == nil, let name = forLinks.first { throw UsageError("\(name) means nothing without --reconnect") }
        if codec == "raw", let name = forFrames.first { throw UsageError("\(name) means nothing with --codec raw") }
        if let attempts { policy?.attempts = attempts }
    }
}

extension ReconnectPolicy {
    /// The policy that a value of `--reconnect` stands for.
    static func parsing(_ text: String) throws(UsageError) -> ReconnectPolicy {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let times = parts[parts.count - 1].split(separator: ",", omittingEmptySubsequences: false).compactMap { Duration(seconds: $0) }
        let isWhole = times.count == parts[parts.count - 1].split(separator: ",", omittingEmptySubsequences: false).count
        switch (parts.count, parts[0]) {
        case (1, "exponential"): return .exponential()
        case (1, "at-once"): return .atOnce()
        case (1, _) where isWhole: return .delays(times)
        case (2, "every") where isWhole && times.count == 1: return .every(times[0])
        case (2, "exponential") where isWhole && times.count == 2: return .exponential(first: times[0], cap: times[1])
        default:
            throw UsageError(
                "--reconnect takes delays in seconds such as 0,2,6, or every:50, at-once or exponential:1,30 behind a =, not \(text)")
        }
    }
}

/// What becomes of lines that are typed while there is no connection.
enum OfflineLines: Sendable, Equatable {
    case wait, fail
    case keep(Int), dropOldest(Int)

    init(parsing text: String) throws(UsageError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let count = parts.count == 2 ? Int(parts[1]) : nil
        switch (parts[0], count) {
        case ("wait", nil) where parts.count == 1: self = .wait
        case ("fail", nil) where parts.count == 1: self = .fail
        case ("keep", let count?) where count > 0: self = .keep(count)
        case ("drop-oldest", let count?) where count > 0: self = .dropOldest(count)
        default: throw UsageError("--offline takes wait, fail, keep:COUNT or drop-oldest:COUNT, not \(text)")
        }
    }

    var rule: OfflineRule<ShellFrame> {
        switch self {
        case .wait: .wait
        case .fail: .fail
        case .keep(let count): .keep(count)
        case .dropOldest(let count): .dropOldest(count)
        }
    }

    /// How many lines may be on their way before standard input is read on. While there is a connection the rule must not meet lines
    /// that only wait for room; without one it has to meet them all.
    func room(isConnected: Bool) -> Int {
        let kept =
            switch self {
            case .wait: 100
            case .fail: 0
            case .keep(let count), .dropOldest(let count): count
            }
        return isConnected || self == .wait ? min(100, max(1, kept)) : kept + 100
    }
}
