import Foundation
import Glibc
import Lifeline
import LifelineCore
import LifelineRuntime
import LifelineSockets

/// Two hosts that nobody else has, and a cable between them: the near one has the sockets of one event loop of this process, the far one
/// an ``PeerKind/outages`` peer.
///
/// Each host is a network namespace of Linux, and so has addresses, a port space and a firewall of its own. It goes with the last thread
/// or process that is in it: nothing has a name that could be left behind.
final class TwoHosts {
    /// Its only loop is on the near host.
    let network: SystemNetwork
    let peer: PeerProcess
    /// Where the peer listens, on the far host.
    let endpoint: Endpoint
    private let loop: any EventLoop

    /// Nil if there is all that it takes.
    static let missing: String? = {
        if let missing = PeerKind.outages.missing { return missing }
        for program in ["ip", "nft", "unshare", "nsenter"] where tool(program) == nil { return "\(program) isn't installed" }
        // A system administrator's and a network administrator's.
        let wanted: UInt64 = 1 << 21 | 1 << 12
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let rights = line.flatMap { UInt64($0.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) } ?? 0
        return rights & wanted == wanted ? nil : "this process may not make network namespaces"
    }()

    static var isTested: Bool { missing == nil || PeerKind.isRequired }

    init() async throws {
        if let missing = Self.missing { throw PeerFailure(missing) }
        network = SystemNetwork(loops: EventLoops(count: 1))
        let loop = network._driver.base.loops[0]
        self.loop = loop
        loop.join()
        try await loop.perform { try Self.enterNewHost() }
        // Its own host, from before it is the peer.
        peer = try await loop.perform {
            try PeerProcess(
                Self.path("unshare"),
                ["--net", "--", Self.path("node").path, PeerKind.outages.source.path, "\(PeerKind.lifetime)", "serve", "0.0.0.0", "0"])
        }
        do {
            endpoint = .tcp("198.51.100.2", try await peer.readyPort())
            try await near("ip link add cable type veth peer name cable netns \(peer.identifier)")
            try await near("ip addr add 198.51.100.1/24 dev cable")
            try await far("ip addr add 198.51.100.2/24 dev cable")
            try await far("ip link set cable up")
            try await near("ip link set cable up")
        } catch {
            peer.kill()
            throw error
        }
    }

    deinit { loop.leave() }

    /// Runs a command on the near host.
    func near(_ command: String) async throws {
        let words = command.split(separator: " ").map { String($0) }
        let process = try await loop.perform { try PeerProcess(Self.path(words[0]), Array(words.dropFirst())) }
        defer { process.kill() }
        let status = try await process.status()
        if status != 0 { throw PeerFailure("\(command): \(status) \(process.complaints)") }
    }

    /// Runs a command on the far host.
    func far(_ command: String) async throws {
        try await near("nsenter --net=/proc/\(peer.identifier)/ns/net \(command)")
    }

    /// The calling thread, and what it starts, is on a host of its own from now on.
    private static func enterNewHost() throws {
        // Glibc's overlay doesn't have it.
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let symbol = dlsym(nil, "unshare") else { throw PeerFailure("no unshare in the C library") }
        let newNetwork: Int32 = 0x4000_0000
        if unsafeBitCast(symbol, to: Unshare.self)(newNetwork) != 0 { throw PeerFailure("no new network namespace: errno \(errno)") }
    }

    private static func tool(_ name: String) -> URL? {
        // Where a user's path doesn't lead.
        PeerKind.program(name)
            ?? ["/usr/sbin", "/sbin"].map { URL(filePath: "\($0)/\(name)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    private static func path(_ name: String) throws -> URL {
        guard let path = tool(name) else { throw PeerFailure("\(name) isn't installed") }
        return path
    }
}

// The firewalls: one on each host, for what comes in.
extension TwoHosts {
    enum Loss: CaseIterable, Sendable { case both, towardsServer, towardsClient }

    /// Packets vanish from now on.
    func drop(_ loss: Loss) async throws {
        if loss != .towardsClient { try await far(Self.wall("drop")) }
        if loss != .towardsServer { try await near(Self.wall("drop")) }
    }

    /// What the client sends is answered with a reset.
    func reject() async throws { try await far(Self.wall("meta l4proto tcp reject with tcp reset")) }

    /// Both firewalls are gone.
    func letThrough() async throws {
        // With nothing to delete it would fail.
        for command in ["nft add table ip wall", "nft delete table ip wall"] {
            try await near(command)
            try await far(command)
        }
    }

    private static func wall(_ verdict: String) -> String {
        "nft add table ip wall ; add chain ip wall in { type filter hook input priority 0 ; } ; add rule ip wall in \(verdict)"
    }
}

/// Runs two hosts while `body` runs, and ends the peer in every case.
func withTwoHosts<R>(body: (TwoHosts) async throws -> R) async throws -> R {
    let hosts = try await TwoHosts()
    defer {
        hosts.peer.recordComplaints()
        hosts.peer.kill()
    }
    return try await body(hosts)
}

extension EventLoop {
    /// Runs `body` on the loop and gives its result.
    func perform<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let shot = OneShot<Value>(timeOut: SocketError(timedOut: .read, after: outerLimit, detail: "the test's own limit"))
        run { shot.finish(Result { try body() }) }
        return try await shot.value(within: outerLimit, on: referee)
    }
}
