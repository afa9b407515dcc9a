// What may be sent as a line, and how.
extension DelimiterCodec {
    /// Appends `frame` and the terminator to send.
    ///
    /// - Throws: ``SocketError/Code/frameTooLarge`` above the outgoing limit; ``SocketError/Code/unencodable`` for a frame that a reader
    ///   would cut elsewhere: it contains the terminator that is sent, or its end and the terminator's beginning make one. If
    ///   ``LineTerminator/either`` is accepted, the peer is taken to do the same: a frame that contains LF is refused when LF or CR LF is
    ///   sent, and one that ends with CR when LF is sent, because a reader takes that CR for a part of the terminator.
    public func encode(_ frame: Bytes, into output: inout ByteOutput) throws(SocketError) {
        let refusal = frame.withUnsafeBytes { self.refusal(of: $0) }
        if refusal != .none { throw error(refusal, length: frame.count) }
        output.append(frame)
        output.append(sending.bytes)
    }

    /// Why a frame can't be sent.
    enum Refusal {
        case none, tooLarge, terminator, lineFeed, lastCR
    }

    func refusal(of text: UnsafeRawBufferPointer) -> Refusal {
        if text.count > maxOutgoing { return .tooLarge }
        guard let start = text.baseAddress, text.count > 0 else { return .none }
        if let outgoingSearch {
            if !outgoingSearch.canEnd(text) { return .terminator }
        } else if firstOffset(of: sending.bytes[0], in: start, count: text.count) != nil {
            return .terminator
        }
        if takesCR {
            let sendsLF = sending.bytes.count == 1 && sending.bytes[0] == 0x0A
            if sendsLF, text[text.count - 1] == 0x0D { return .lastCR }
            if sending == .crlf, firstOffset(of: 0x0A, in: start, count: text.count) != nil { return .lineFeed }
        }
        return .none
    }

    func error(_ refusal: Refusal, length: Int) -> SocketError {
        switch refusal {
        case .tooLarge: SocketError(frameOf: length, exceeds: maxOutgoing)
        case .lineFeed: SocketError(.unencodable, "the frame contains a line feed, which readers take for its end")
        case .lastCR: SocketError(.unencodable, "the frame ends with a carriage return, which readers take for a part of its terminator")
        case .terminator, .none:
            SocketError(.unencodable, "the frame contains, or its end begins, the terminator \(sending) that is sent behind it")
        }
    }
}
