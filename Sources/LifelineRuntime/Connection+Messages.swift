public import LifelineCore

// The codec's step between frames and messages, which is the tasks' work.
extension Connection {
    @inlinable @inline(__always)
    nonisolated func message(from frame: C.Decoder.Frame) throws -> C.Message {
        do {
            return try codec.message(from: frame)
        } catch {
            throw refuse(error)
        }
    }

    /// A batch up to the first frame that no message can be made of; that one's error is for the next call.
    nonisolated func messages(from frames: [C.Decoder.Frame]) throws -> [C.Message] {
        var messages: [C.Message] = []
        messages.reserveCapacity(frames.count)
        for frame in frames {
            do {
                messages.append(try codec.message(from: frame))
            } catch {
                let refusal = refuse(error)
                if messages.isEmpty { throw refusal }
                break
            }
        }
        return messages
    }

    @inlinable @inline(__always)
    nonisolated func frame(for message: C.Outgoing) throws -> C.Encoder.Frame {
        do {
            return try codec.frame(for: message)
        } catch {
            throw SocketError(encoding: error)
        }
    }

    /// No message can be made of a frame: the reader gets nothing more, and the connection ends as after any other violation.
    @usableFromInline
    nonisolated func refuse(_ error: any Error) -> SocketError {
        let error = SocketError(decoding: error)
        inbox.fail(error)
        core.loop.run { [core, weak inbound] in
            guard let inbound, core.owner === inbound else { return }
            core.violated(error)
        }
        return error
    }
}
