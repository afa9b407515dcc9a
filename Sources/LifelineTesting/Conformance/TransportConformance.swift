package import LifelineRuntime

/// Proves that a transport keeps the contract of `Transport`: readiness, short writes, order, half-close, ends, resets.
///
/// Runs on loops of any kind, real ones and virtual ones; it waits for facts, bounded by the loop's timers.
///
///     @Test(arguments: TransportConformance.checks)
///     func keepsTheContract(check: TransportConformance.Check) async throws {
///         try await TransportConformance(name: "TCP", loop: loop, makePair: { … }).run(check)
///     }
package struct TransportConformance: Sendable {
    /// One thing that the contract says.
    package struct Check: Sendable, CustomStringConvertible {
        package let name: String
        let body: @Sendable (isolated ConformanceBench) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (isolated ConformanceBench) async throws -> Void) {
            self.name = name
            self.body = body
        }

        package var description: String { name }
    }

    /// What a transport did against the contract.
    package struct Failure: Error, CustomStringConvertible {
        package let transport: String
        package let check: String
        package let message: String

        package var description: String { "\(transport): \(check): \(message)" }
    }

    /// What the transport is called in failures.
    package let name: String
    package let loop: any EventLoop
    let tellsResets: Bool
    let travelTime: Duration
    let makePair: @Sendable (any EventLoop) async throws -> (any Transport, any Transport)

    /// - Parameters:
    ///   - loop: where both ends live.
    ///   - tellsResets: false for transports that have no way to tell the peer of a reset, which is an end then.
    ///   - travelTime: how long bytes and the word about them may be under way, where that is more than a turn of the loop.
    ///   - makePair: makes two ends of one connection on a loop, neither of them started.
    package init(
        name: String, loop: any EventLoop, tellsResets: Bool = true, travelTime: Duration = .zero,
        makePair: @escaping @Sendable (any EventLoop) async throws -> (any Transport, any Transport)
    ) {
        self.name = name
        self.loop = loop
        self.tellsResets = tellsResets
        self.travelTime = travelTime
        self.makePair = makePair
    }

    /// All checks.
    package static let checks: [Check] = reading + writing + starting + ending

    /// Runs one check on a fresh pair.
    ///
    /// - Throws: ``Failure``; what `makePair` throws.
    package func run(_ check: Check) async throws {
        let (near, far) = try await makePair(loop)
        let bench = ConformanceBench(near, far, on: loop, tellsResets: tellsResets, travelTime: travelTime)
        do {
            try await bench.run(check)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Failure(transport: name, check: check.name, message: "\(error)")
        }
    }

    /// Runs all checks, one after the other.
    package func run() async throws {
        for check in Self.checks { try await run(check) }
    }
}
