import CLifelineSystem
package import LifelineCore
package import LifelineRuntime

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The C library's resolver, which blocks: each look-up has a thread that waits for it, at most eight at a time, and later ones wait in
/// order. A look-up that nobody waits for any more is left to end by itself.
///
/// The proof behind `@unchecked`: `running` and `waiting` are guarded by `lock`.
package final class SystemResolver: HostResolver, @unchecked Sendable {
    /// One for the process: the bound is on its threads.
    package static let shared = SystemResolver(atMost: 8) { host in
        systemAddresses(of: host)
    }

    private final class LookUp: Sendable {
        let host: String
        let answer: OneShot<[IPAddress]>

        init(host: String, limit: Duration) {
            self.host = host
            answer = OneShot(timeOut: SocketError(timedOut: .resolve, after: limit, detail: host))
        }
    }

    private let most: Int
    private let ask: @Sendable (String) -> Result<[IPAddress], SocketError>
    private let lock = Lock()
    private var running = 0
    private var waiting: [LookUp] = []

    /// - Parameter ask: may block.
    package init(atMost most: Int, ask: @escaping @Sendable (String) -> Result<[IPAddress], SocketError>) {
        self.most = most
        self.ask = ask
    }

    package func addresses(
        of host: String, port: UInt16, within limit: Duration, on loop: any EventLoop
    ) async throws -> [IPAddress] {
        let lookUp = LookUp(host: host, limit: limit)
        let starts = lock.withLock {
            if running == most {
                waiting.append(lookUp)
                return false
            }
            running += 1
            return true
        }
        if starts { startThread(for: lookUp) }
        do {
            return try await lookUp.answer.value(within: limit, on: loop).map { $0.with(port: port) }
        } catch {
            lock.withLock { waiting.removeAll { $0 === lookUp } }
            throw error
        }
    }

    /// What a thread needs to know.
    private final class Errand {
        let resolver: SystemResolver
        let lookUp: LookUp

        init(_ resolver: SystemResolver, _ lookUp: LookUp) {
            self.resolver = resolver
            self.lookUp = lookUp
        }
    }

    private func startThread(for lookUp: LookUp) {
        let errand = Unmanaged.passRetained(Errand(self, lookUp))
        let result = lls_start_thread(
            "lifeline-lookup",
            { context in
                guard let context else { return }
                let errand = Unmanaged<Errand>.fromOpaque(context).takeRetainedValue()
                errand.resolver.work(from: errand.lookUp)
            }, errand.toOpaque())
        guard result < 0 else { return }
        errand.release()
        lookUp.answer.fail(SocketError(errno: -result, "no thread to look up “\(lookUp.host)” on"))
        // Those that wait have no other thread to hope for, unless one is running.
        for lost in lock.withLock({ giveUp() }) { lost.answer.fail(SocketError(errno: -result, "no thread to look up “\(lost.host)” on")) }
    }

    /// Under the lock.
    private func giveUp() -> [LookUp] {
        running -= 1
        guard running == 0 else { return [] }
        defer { waiting = [] }
        return waiting
    }

    /// A thread's life: one look-up after the other.
    private func work(from first: LookUp) {
        var next: LookUp? = first
        while let lookUp = next {
            switch ask(lookUp.host) {
            case .success(let addresses): lookUp.answer.succeed(addresses)
            case .failure(let error): lookUp.answer.fail(error)
            }
            next = lock.withLock {
                if waiting.isEmpty {
                    running -= 1
                    return nil
                }
                return waiting.removeFirst()
            }
        }
    }

    private static func systemAddresses(of host: String) -> Result<[IPAddress], SocketError> {
        var code: Int32 = 0
        var number: Int32 = 0
        let found = withUnsafeTemporaryAllocation(of: lls_ip.self, capacity: 64) { buffer -> [IPAddress]? in
            let count = lls_resolve(host, buffer.baseAddress, Int32(buffer.count), &code, &number)
            if count < 0 { return nil }
            var addresses: [IPAddress] = []
            for raw in buffer.prefix(Int(count)) where !addresses.contains(IPAddress(raw)) { addresses.append(IPAddress(raw)) }
            return addresses
        }
        guard let found else { return .failure(failure(host, code, number)) }
        if found.isEmpty { return .failure(SocketError(.unknownHost, "“\(host)” has no address")) }
        return .success(found)
    }

    private static func failure(_ host: String, _ code: Int32, _ number: Int32) -> SocketError {
        if code == EAI_SYSTEM { return SocketError(errno: number, "looking up “\(host)”") }
        let cause = ResolverFailure(code: code)
        return SocketError(
            code == EAI_MEMORY ? .resourcesExhausted : .unknownHost, "looking up “\(host)”: \(cause.description)", cause: cause)
    }
}
