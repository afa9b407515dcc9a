internal import LifelineCore

// What the encoder has to keep.
extension CodecVerifier {
    /// Messages as bytes, and where each of them ends.
    struct Encoded {
        var bytes: [UInt8] = []
        var ends: [Int] = []
    }

    /// What a fresh encoder, or the peer, makes of messages.
    func encode(_ messages: [C.Outgoing], asPeer: Bool = false) throws -> Encoded {
        var encoded = Encoded()
        if asPeer, let wire {
            for message in messages {
                encoded.bytes += try wire(message)
                encoded.ends.append(encoded.bytes.count)
            }
            return encoded
        }
        var encoder = codec.makeEncoder()
        var output = ByteOutput()
        for message in messages {
            try encoder.encode(codec.frame(for: message), into: &output)
            encoded.ends.append(output.count)
        }
        encoded.bytes = Array(output.finish())
        return encoded
    }

    func checkEncoding() throws(CodecFault) {
        var frames: [C.Encoder.Frame] = []
        for message in messages {
            do {
                frames.append(try codec.frame(for: message))
                _ = try encode([message])
            } catch {
                throw encoderFault(.roundTrip, expected: "bytes for a message that can be sent", seen: "\(error)", of: [message])
            }
        }
        try checkAppending(frames)
        if C.Encoder.isStateless { try checkStateless(frames) }
        for message in unsendable { try checkRefusal(message, "a message that can't be sent") }
    }

    /// What stands in the output already stays, at any alignment.
    private func checkAppending(_ frames: [C.Encoder.Frame]) throws(CodecFault) {
        for (message, frame) in zip(messages, frames) {
            let alone = bytes(of: [frame])
            var encoder = codec.makeEncoder()
            var output = ByteOutput()
            for byte in [1, 2, 3] as [UInt8] { output.append(byte) }
            try? encoder.encode(frame, into: &output)
            let written = Array(output.finish())
            if written != [1, 2, 3] + alone {
                throw encoderFault(
                    .encoding, expected: "01 02 03 as it stood there, then \(Bytes(alone))", seen: "\(Bytes(written))", of: [message])
            }
        }
    }

    /// Each frame makes the same bytes, whatever was encoded before it.
    private func checkStateless(_ frames: [C.Encoder.Frame]) throws(CodecFault) {
        for (place, frame) in frames.enumerated() {
            let alone = bytes(of: [frame])
            for (earlier, other) in frames.enumerated() {
                let both = bytes(of: [other, frame])
                if both != bytes(of: [other]) + alone {
                    throw encoderFault(
                        .stateless, expected: "\(Bytes(alone)) for the second message, as for the first one of a connection",
                        seen: "\(Bytes(both)) for both", of: [messages[earlier], messages[place]])
                }
            }
        }
        let all = bytes(of: frames + frames.reversed())
        if all != (frames + frames.reversed()).flatMap({ bytes(of: [$0]) }) {
            throw encoderFault(
                .stateless, expected: "the same bytes for each message in every order",
                seen: "others, for all messages and then all reversed",
                of: messages)
        }
    }

    /// An encode that throws writes nothing, and the encoder goes on as if it hadn't been asked.
    func checkRefusal(_ message: C.Outgoing, _ what: String) throws(CodecFault) {
        let frame: C.Encoder.Frame
        do { frame = try codec.frame(for: message) } catch { return }
        var encoder = codec.makeEncoder()
        var output = ByteOutput()
        output.append(7 as UInt8)
        do {
            try encoder.encode(frame, into: &output)
            throw encoderFault(.encoding, expected: "an error for \(what)", seen: "\(output.count - 1) bytes written", of: [message])
        } catch let fault as CodecFault {
            throw fault
        } catch {
            let count = output.count - 1
            if count != 0 {
                throw encoderFault(
                    .encoding, expected: "nothing written by an encode that throws", seen: "\(count) bytes written", of: [message])
            }
        }
        for next in messages {
            guard let frame = try? codec.frame(for: next) else { continue }
            let expected = bytes(of: [frame])
            var later = encoder
            var output = ByteOutput()
            try? later.encode(frame, into: &output)
            let seen = Array(output.finish())
            if seen != expected {
                throw encoderFault(
                    .encoding, expected: "\(Bytes(expected)) for the second message, as if the first hadn't been refused",
                    seen: "\(Bytes(seen))", of: [message, next])
            }
        }
    }

    /// What a fresh encoder makes of frames that it accepts.
    private func bytes(of frames: [C.Encoder.Frame]) -> [UInt8] {
        var encoder = codec.makeEncoder()
        var output = ByteOutput()
        for frame in frames { try? encoder.encode(frame, into: &output) }
        return Array(output.finish())
    }

    private func encoderFault(_ rule: CodecFault.Rule, expected: String, seen: String, of messages: [C.Outgoing]) -> CodecFault {
        let list = messages.map { brief($0) }.joined(separator: ", ")
        return CodecFault(
            rule: rule, codec: "\(C.self)", reads: [], ends: false, expected: expected, seen: seen, origin: "encoding \(list)")
    }
}
