import CLifelineTLS
import COpenSSL
import LifelineCore
import LifelineRuntime

extension TLSTransport {
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SocketError) -> ReadResult {
        switch state {
        case .plain, .handshaking, .judging: return .wouldBlock
        case .failed(let error): throw error
        case .closed: throw Self.closedHere
        case .open: break
        }
        if buffer.count >= 4 * Self.portion {
            // What is encrypted takes more room than what it decrypts to, so one half is enough for the other.
            let middle = buffer.count / 2
            return try decrypt(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<middle]),
                reading: UnsafeMutableRawBufferPointer(rebasing: buffer[middle...]))
        }
        var outcome: Result<ReadResult, SocketError> = .success(.wouldBlock)
        withUnsafeTemporaryAllocation(byteCount: Self.portion, alignment: 16) { scratch in
            outcome = Result { () throws(SocketError) in try decrypt(into: buffer, reading: scratch) }
        }
        return try outcome.get()
    }

    /// Decrypts into `plain` until it is full or nothing is left to decrypt.
    private func decrypt(
        into plain: UnsafeMutableRawBufferPointer, reading scratch: UnsafeMutableRawBufferPointer
    ) throws(SocketError) -> ReadResult {
        guard peerEnd == .none else { return peerEnd == .closeNotify ? .end : .cut }
        defer { decryptingEnds() }
        var count = 0
        var budget = Self.readBudget
        var step = decryptHeld(into: plain, &count)
        while true {
            switch step {
            case .full: return .bytes(count, more: true)
            case .endOfPeer:
                peerEnd = .closeNotify
                return count > 0 ? .bytes(count, more: true) : .end
            case .heldUp:
                // The peer makes this side answer, and takes no answers.
                isReadHeldUp = true
                return count > 0 ? .bytes(count, more: false) : .wouldBlock
            case .failed(let error):
                fail(error)
                if count > 0 { return .bytes(count, more: true) }
                throw error
            case .hungry: break
            }
            if let baseFailure {
                if count > 0 { return .bytes(count, more: true) }
                throw baseFailure
            }
            if hasBaseEnded {
                peerEnd = .unannounced
                return count > 0 ? .bytes(count, more: true) : .cut
            }
            guard isBaseReadable else { return count > 0 ? .bytes(count, more: false) : .wouldBlock }
            // So that all of it has room once it is decrypted.
            let room = min(scratch.count, max(plain.count - count, count == 0 ? Self.leastRead : 0))
            if room < Self.leastRead { return .bytes(count, more: true) }
            let fetched = fetch(UnsafeMutableRawBufferPointer(rebasing: scratch[..<room]))
            step = decryptFetched(UnsafeRawBufferPointer(rebasing: scratch[..<fetched]), into: plain, &count)
            budget -= fetched
            if count == 0, case .hungry = step, budget <= 0 || !held.isEmpty {
                // All of it came to nothing so far, and the others must have their turn.
                tell(readable: true)
                return .wouldBlock
            }
        }
    }

    private func decryptingEnds() {
        flushPipe()
        if isShutdownDue, case .open = state { shutDown() }
        guard isWriteHeldUp else { return }
        isWriteHeldUp = false
        tell(writable: true)
    }

    private enum Step {
        /// `plain` has no more room.
        case full
        /// There is nothing left to decrypt.
        case hungry
        case endOfPeer
        case heldUp
        case failed(SocketError)
    }

    /// Decrypts what OpenSSL has and what is held.
    private func decryptHeld(into plain: UnsafeMutableRawBufferPointer, _ count: inout Int) -> Step {
        if held.isEmpty { return decryptLent(into: plain, &count) }
        let kept = held
        let (step, left) = kept.withUnsafeBytes { bytes in
            llt_pipe_lend(pipe, bytes.baseAddress, bytes.count)
            return (decryptLent(into: plain, &count), llt_pipe_take_back(pipe))
        }
        held = left == 0 ? Bytes() : kept.slice((kept.count - left)..<kept.count)
        return step
    }

    /// Decrypts what has just come from below, where it lies, and holds what is left of it: that is where the step isn't `hungry`, and where
    /// a portion of it has come to nothing, such as one key update behind the other.
    private func decryptFetched(
        _ bytes: UnsafeRawBufferPointer, into plain: UnsafeMutableRawBufferPointer, _ count: inout Int
    ) -> Step {
        var step = Step.hungry
        var start = 0
        while case .hungry = step, start < bytes.count, start == 0 || count > 0 {
            let portion = UnsafeRawBufferPointer(rebasing: bytes[start..<min(bytes.count, start + 2 * Self.portion)])
            llt_pipe_lend(pipe, portion.baseAddress, portion.count)
            step = decryptLent(into: plain, &count)
            start += portion.count - llt_pipe_take_back(pipe)
        }
        if start < bytes.count { hold(UnsafeRawBufferPointer(rebasing: bytes[start...])) }
        return step
    }

    private func decryptLent(into plain: UnsafeMutableRawBufferPointer, _ count: inout Int) -> Step {
        while count < plain.count {
            var done = 0
            ERR_clear_error()
            let result = SSL_read_ex(ssl, plain.baseAddress.map { $0 + count }, plain.count - count, &done)
            if result == 1 {
                count += done
                continue
            }
            switch SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ: return .hungry
            case SSL_ERROR_ZERO_RETURN: return .endOfPeer
            case SSL_ERROR_WANT_WRITE:
                flushPipe()
                if let writeFailure { return .failed(writeFailure) }
                if isBaseBlocked { return .heldUp }
            default: return .failed(handle.failure(inHandshake: false))
            }
        }
        return .full
    }

    /// Reads encrypted bytes from below; how many. Notes what else was found there.
    private func fetch(_ scratch: UnsafeMutableRawBufferPointer) -> Int {
        do throws(SocketError) {
            switch try base.read(into: scratch) {
            case .bytes(let count, let more):
                isBaseReadable = more
                return count
            case .wouldBlock: isBaseReadable = false
            case .end, .cut: hasBaseEnded = true
            }
        } catch {
            baseFailure = error
        }
        return 0
    }

    private static let readBudget = 32 * 1024
    /// Less than this isn't worth a call.
    private static let leastRead = 1024
}
