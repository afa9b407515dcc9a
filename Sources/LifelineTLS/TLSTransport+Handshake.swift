import CLifelineTLS
import COpenSSL
import LifelineCore
import LifelineRuntime

extension TLSTransport: TransportHandshake {
    var isUnderWay: Bool {
        switch state {
        case .plain, .handshaking, .judging: true
        case .open, .failed, .closed: false
        }
    }

    nonisolated(nonsending) func complete() async throws {
        guard let info = try await agreed.value(), let verifier = handle.verifier else { return }
        switch await verdict(on: info, of: verifier) {
        case .isApproved:
            if let failure = try await settled({ self.open() }) { throw failure }
        case .isRefused(let error):
            if Task.isCancelled {
                loop.run { self.fail(Self.closedHere) }
                throw CancellationError()
            }
            let refusal = refusal(error, info)
            _ = try await settled { self.fail(refusal, isRefusal: true) }
            throw refusal
        case .isLate(let error):
            if Task.isCancelled { loop.run { self.fail(Self.closedHere) } }
            throw error
        }
    }

    private enum Verdict: Sendable {
        case isApproved
        case isRefused(any Error)
        case isLate(any Error)
    }

    /// Runs the verifier until the limit, in a task like this one's.
    private nonisolated(nonsending) func verdict(
        on info: TLSInfo, of verifier: @escaping @Sendable (TLSInfo) async throws -> Void
    ) async -> Verdict {
        let expired = expired
        return await withTaskGroup(of: Verdict.self) { group in
            group.addTask {
                do {
                    try await verifier(info)
                    return .isApproved
                } catch {
                    return .isRefused(error)
                }
            }
            group.addTask {
                do {
                    try await expired.value()
                    return .isLate(Self.closedHere)
                } catch {
                    return .isLate(error)
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? .isLate(Self.closedHere)
        }
    }

    private func refusal(_ error: any Error, _ info: TLSInfo) -> SocketError {
        let reason =
            (error as? TLSError)
            ?? TLSError(
                .refusedByVerifier, "this side's own verification has refused the peer", certificate: info.peerCertificates.first,
                cause: error)
        return SocketError(.certificateRefused, "\(reason.message)", cause: reason)
    }

    /// Does `work` on the loop; the failure that this has come to by then.
    private nonisolated(nonsending) func settled(_ work: @escaping @Sendable () -> Void) async throws -> SocketError? {
        let outcome = OneShot<SocketError?>()
        loop.run {
            work()
            switch self.state {
            case .failed(let error): outcome.succeed(error)
            case .closed: outcome.succeed(Self.closedHere)
            default: outcome.succeed(nil)
            }
        }
        return try await outcome.value()
    }

    /// Goes on with the handshake as far as what has arrived allows.
    func advanceHandshake() {
        for _ in 0..<Self.mostSteps {
            guard case .handshaking = state else { return }
            ERR_clear_error()
            let result = withHeld { SSL_do_handshake(ssl) }
            let code = SSL_get_error(ssl, result)
            flushPipe()
            if result == 1 { return handshakeIsThrough() }
            switch code {
            case SSL_ERROR_WANT_READ:
                if !readHandshake() { return }
            case SSL_ERROR_WANT_WRITE:
                // The pipe is full; the notice of the transport below will come.
                if isBaseBlocked { return }
                if let writeFailure { return fail(Self.closedInHandshake(writeFailure)) }
            default:
                return fail(handle.failure(inHandshake: true))
            }
        }
        // The others on the loop first.
        loop.post(HandshakeTurn(self))
    }

    /// Takes what has arrived; false if there is nothing to go on with for now.
    private func readHandshake() -> Bool {
        if hasBaseEnded {
            fail(Self.closedInHandshake(nil))
            return false
        }
        guard isBaseReadable else { return false }
        do throws(SocketError) {
            return try readPortion()
        } catch {
            fail(Self.closedInHandshake(error))
            return false
        }
    }

    /// Reads a portion of encrypted bytes into ``held``; false if there were none, and that isn't the end.
    private func readPortion() throws(SocketError) -> Bool {
        var result = ReadResult.wouldBlock
        var failure: SocketError?
        withUnsafeTemporaryAllocation(byteCount: Self.portion, alignment: 16) { buffer in
            do throws(SocketError) {
                result = try base.read(into: buffer)
                if case .bytes(let count, _) = result { hold(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        switch result {
        case .bytes(_, let more):
            isBaseReadable = more
            return true
        case .wouldBlock:
            isBaseReadable = false
            return false
        case .end, .cut:
            hasBaseEnded = true
            return true
        }
    }

    /// Keeps encrypted bytes behind those that are kept already.
    func hold(_ bytes: UnsafeRawBufferPointer) {
        if held.isEmpty {
            held = Bytes(copying: bytes)
        } else {
            held = Bytes(Array(held) + Array(bytes))
        }
    }

    /// Lends OpenSSL what is held during `call`.
    private func withHeld(_ call: () -> Int32) -> Int32 {
        guard !held.isEmpty else { return call() }
        let (result, left) = held.withUnsafeBytes { bytes in
            llt_pipe_lend(pipe, bytes.baseAddress, bytes.count)
            let result = call()
            return (result, llt_pipe_take_back(pipe))
        }
        held = left == 0 ? Bytes() : held.slice((held.count - left)..<held.count)
        return result
    }

    private func handshakeIsThrough() {
        hasAgreed = true
        do throws(SocketError) {
            try handle.checkPins()
        } catch {
            return fail(error)
        }
        if handle.verifier == nil {
            open()
            agreed.succeed(nil)
        } else {
            state = .judging
            agreed.succeed(handle.info(peerEnd: .none))
        }
    }

    /// From here on bytes flow.
    private func open() {
        switch state {
        case .handshaking, .judging: break
        default: return
        }
        disarm()
        state = .open
        if isShutdownDue { shutDown() }
        tell(readable: true, writable: true)
    }

    private static func closedInHandshake(_ cause: SocketError?) -> SocketError {
        let how = cause.map { ": \($0)" } ?? ""
        let reason = TLSError(
            .closedInHandshake, "the peer has closed the connection in the handshake\(how)", certificate: nil, cause: cause)
        return SocketError(.handshakeFailed, reason.message, errno: cause?.errno, cause: reason)
    }

    /// Steps of one handshake before others have their turn.
    private static let mostSteps = 64
}

/// A handshake that goes on in the loop's next callback phase.
final class HandshakeTurn: LoopNotice {
    private let transport: TLSTransport
    init(_ transport: TLSTransport) { self.transport = transport }
    func deliver() { transport.advanceHandshake() }
}
