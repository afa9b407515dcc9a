// How a header is written.
extension LengthPrefixCodec {
    /// Appends the header and the payload.
    ///
    /// - A layout that strips headers: `frame` is the payload, and zeros are written for the bytes of the header that aren't the length.
    /// - A layout that keeps headers: `frame` is the whole frame. Its header goes out as it is, except that the length field is overwritten
    ///   with the right number (a varint with its shortest form).
    ///
    /// - Throws: ``SocketError/Code/frameTooLarge`` or ``SocketError/Code/unencodable``, with nothing written; see the type.
    @inlinable
    public func encode(_ frame: Bytes, into output: inout ByteOutput) throws(SocketError) {
        let payload = frame.count
        let number = payload &- bias
        guard isPlain, payload <= mostOutgoing, number >= 0 else { return try encodeAnyway(frame, into: &output) }
        append(UInt64(truncatingIfNeeded: number), to: &output)
        output.append(frame)
    }

    @inlinable
    func append(_ number: UInt64, to output: inout ByteOutput) {
        switch width {
        case .one: output.append(UInt8(truncatingIfNeeded: number))
        case .two: output.append(UInt16(truncatingIfNeeded: number), order)
        case .four: output.append(UInt32(truncatingIfNeeded: number), order)
        case .eight: output.append(number, order)
        case .three, .varint: appendBytes(of: number, to: &output)
        }
    }

    @usableFromInline
    func appendBytes(of number: UInt64, to output: inout ByteOutput) {
        if width == .three {
            output.append(UInt8(truncatingIfNeeded: order == .big ? number >> 16 : number))
            output.append(UInt8(truncatingIfNeeded: number >> 8))
            output.append(UInt8(truncatingIfNeeded: order == .big ? number : number >> 16))
            return
        }
        var rest = number
        while rest >= 0x80 {
            output.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        output.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Encodes with any layout, and throws what there is to throw.
    @usableFromInline
    func encodeAnyway(_ frame: Bytes, into output: inout ByteOutput) throws(SocketError) {
        let field = try fieldCount(in: frame)
        let header = layout.keepsHeader ? offset + field + layout.trailing : 0
        guard frame.count >= header else {
            throw SocketError(.unencodable, "a frame of \(frame.count) bytes is shorter than its header of \(header)")
        }
        let number = try number(for: frame.count - header)
        if layout.keepsHeader {
            output.append(frame.slice(0..<offset))
            append(number, to: &output)
            output.append(frame.slice(offset + field..<frame.count))
        } else {
            for _ in 0..<offset { output.append(0) }
            append(number, to: &output)
            for _ in 0..<layout.trailing { output.append(0) }
            output.append(frame)
        }
    }

    /// The number that says that `payload` bytes follow.
    @usableFromInline
    func number(for payload: Int) throws(SocketError) -> UInt64 {
        guard payload <= mostOutgoing else { throw SocketError(frameOf: payload, exceeds: mostOutgoing) }
        var number = payload - bias
        if varintWeight > 0 {
            // The first size that holds the number with that size in it. There is one, and the number has no shorter form.
            for size in 1...10 where Self.varintSize(Swift.max(0, number + size)) <= size {
                number += size
                break
            }
        }
        guard number >= 0 else {
            throw SocketError(.unencodable, "\(payload) bytes of payload are less than the adjustment of \(bias): no length says that")
        }
        return UInt64(number)
    }

    private static func varintSize(_ number: Int) -> Int {
        Swift.max(1, (Int.bitWidth - number.leadingZeroBitCount + 6) / 7)
    }

    /// The bytes of the length field in a frame that has its header.
    private func fieldCount(in frame: Bytes) throws(SocketError) -> Int {
        if let byteCount = width.byteCount { return byteCount }
        guard layout.keepsHeader else { return 0 }
        for place in 0..<10 where offset + place < frame.count && frame[offset + place] < 0x80 { return place + 1 }
        throw SocketError(.unencodable, "a frame of \(frame.count) bytes without the varint that its header should have")
    }
}
