import LifelineCore

// The registration.
extension Supervisor {
    private enum Step: Sendable {
        case done
        case failed(any Error)
        case late(SocketError)
        case cancelled
    }

    /// Runs `registration` on `connection`, within its limit; nil if the server knows this client now.
    func register(_ connection: Connection<C>, _ registration: @escaping Registration) async -> OfflineReason? {
        let limit = options.registrationLimit
        let loop = loop
        let steps: (first: Step, last: Step) = await withTaskGroup(of: Step.self) { group in
            group.addTask(executorPreference: loop.tasks) {
                do {
                    try await registration(connection)
                    return .done
                } catch {
                    return .failed(error)
                }
            }
            group.addTask(executorPreference: loop.tasks) {
                let never = OneShot<Void>(timeOut: SocketError(timedOut: .registration, after: limit))
                do {
                    try await never.value(within: limit, on: loop)
                } catch let error as SocketError {
                    return .late(error)
                } catch {}
                return .cancelled
            }
            let first = await group.next() ?? .cancelled
            // What it waits for on the connection ends, too.
            if case .done = first {} else if case .failed = first {} else { connection.core.closeNow() }
            group.cancelAll()
            return (first, await group.next() ?? .cancelled)
        }
        switch steps.first {
        case .done: return connection.inbound.isRetired ? .failed(.swappedInRegistration) : nil
        case .failed(let error): return reason(error, connection)
        case .late(let error): return OfflineReason(error)
        case .cancelled: return OfflineReason(SocketError(.closed, "the registration was cancelled"))
        }
    }

    private func reason(_ error: any Error, _ connection: Connection<C>) -> OfflineReason {
        let end = connection.core.machine.reason
        if let hint = error as? ReconnectHint {
            machine.obey(hint)
            return end.map { OfflineReason($0) } ?? .byServer
        }
        if let error = error as? SocketError {
            if error.code == .kicked || error.code == .loginRefused || end == nil { return OfflineReason(error) }
        }
        // An error of the application's own stands, unless it comes of the end of the connection.
        if let end, error is SocketError || error is CancellationError || connection.inbox.hasToldEnd { return OfflineReason(end) }
        if error is CancellationError { return OfflineReason(SocketError(.closed, "the registration was cancelled")) }
        return .loginRefused(SocketError(.loginRefused, "the registration failed", cause: error))
    }
}

extension SocketError {
    fileprivate static var swappedInRegistration: SocketError {
        SocketError(.misuse, "the registration swapped the codec of its connection")
    }
}
