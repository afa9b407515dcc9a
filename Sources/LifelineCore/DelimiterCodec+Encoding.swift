// What may be sent as a line, and how.
extension DelimiterCodec {
    /// Appends `frame` and the terminator to send.
    ///
    /// - Throws: ``SocketError/Code/frameTooLarge`` above the outgoing limit; ``SocketError/Code/unencodable`` for a frame that a reader
    ///   would cut elsewhere: it contains the terminator that is sent, or its end and the terminator's beginning make one. If
    ///   ``LineTerminator/either`` is accepted, the peer is taken to do the same: a frame that contains LF is refused when LF or CR LF is
    ///   sent, and one that ends with CR when LF is sent, because a reader takes that CR for a part of the terminator.
    @inlinable
    public func encode(_ frame: Bytes, into output: inout ByteOutput) throws(SocketError) {
        let refusal = frame.withUnsafeBytes { self.refusal(of: $0) }
        if refusal != .none { throw error(refusal, length: frame.count) }
        output.append(frame)
        appendTerminator(to: &output)
    }

    @inlinable
    func appendTerminator(to output: inout ByteOutput) {
        switch outgoing {
        case .byte, .byteOrCRBefore: output.append(outgoingByte)
        case .byteAndCRBefore: output.append(0x0D0A as UInt16, .big)
        case .several: output.append(sending.bytes)
        }
    }

    /// Why a frame can't be sent.
    @usableFromInline
    enum Refusal {
        case none, tooLarge, terminator, lineFeed, lastCR
    }

    @usableFromInline
    func refusal(of text: UnsafeRawBufferPointer) -> Refusal {
        if text.count > maxOutgoing { return .tooLarge }
        guard let start = text.baseAddress, text.count > 0 else { return .none }
        if let outgoingSearch { return outgoingSearch.canEnd(text) ? .none : .terminator }
        var place = 0
        while let found = firstOffset(of: outgoingByte, in: start + place, count: text.count - place) {
            if outgoing == .byte { return .terminator }
            if incoming == .byteOrCRBefore { return .lineFeed }
            place += found
            if place > 0, text[place - 1] == 0x0D { return .terminator }
            place += 1
        }
        let losesLastCR = outgoing == .byte && outgoingByte == 0x0A && incoming == .byteOrCRBefore
        return losesLastCR && text[text.count - 1] == 0x0D ? .lastCR : .none
    }

    @usableFromInline
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
