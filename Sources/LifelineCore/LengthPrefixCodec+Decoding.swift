// How the header is read. Every number in it comes from the peer: no sum may overflow, no difference may be believed.
extension LengthPrefixCodec {
    /// A header that is there and whose length is within the limit.
    @usableFromInline
    struct Header {
        /// Its bytes.
        @usableFromInline let count: Int
        /// The bytes of the payload.
        @usableFromInline let payload: Int

        @inlinable
        init(count: Int, payload: Int) {
            self.count = count
            self.payload = payload
        }
    }

    /// The header at the front of the input; nil if not all of it is there.
    @inlinable
    func header(in input: ByteInput) throws(SocketError) -> Header? {
        guard width != .varint else { return try varintHeader(in: input) }
        guard input.count >= headerCount else { return nil }
        let place = input.start + offset
        let number: UInt64 =
            switch width {
            case .one: UInt64(place.load(as: UInt8.self))
            case .two: UInt64(order.convert(place.loadUnaligned(as: UInt16.self)))
            case .four: UInt64(order.convert(place.loadUnaligned(as: UInt32.self)))
            case .eight: order.convert(place.loadUnaligned(as: UInt64.self))
            case .three, .varint: threeBytes(at: place)
            }
        // Within these bounds the sum can't overflow, and a negative one is above the limit when its sign is taken for a digit.
        let payload = Int(truncatingIfNeeded: number) &+ bias
        guard number <= 1 << 61, UInt(bitPattern: payload) <= UInt(bitPattern: max) else { throw refusal(number, bias: bias) }
        return Header(count: headerCount, payload: payload)
    }

    @usableFromInline
    func threeBytes(at place: UnsafeRawPointer) -> UInt64 {
        let first = UInt64(place.load(as: UInt8.self))
        let middle = UInt64(place.load(fromByteOffset: 1, as: UInt8.self)) << 8
        let last = UInt64(place.load(fromByteOffset: 2, as: UInt8.self))
        return order == .big ? first << 16 | middle | last : last << 16 | middle | first
    }

    @usableFromInline
    func varintHeader(in input: ByteInput) throws(SocketError) -> Header? {
        var number: UInt64 = 0
        for place in 0..<10 {
            guard offset + place < input.count else { return nil }
            let byte = input[offset + place]
            if place == 9, byte > 1 { break }
            number |= UInt64(byte & 0x7F) << UInt64(7 * place)
            let size = place + 1
            let bias = bias - varintWeight * size
            if byte < 0x80 {
                let payload = Int(truncatingIfNeeded: number) &+ bias
                guard number <= 1 << 61, UInt(bitPattern: payload) <= UInt(bitPattern: max) else { throw refusal(number, bias: bias) }
                return offset + size + layout.trailing <= input.count ? Header(count: headerCount + size, payload: payload) : nil
            }
            // More digits only add to the number, at most nine bytes to what it counts: no need to wait for the rest of it.
            if number > 1 << 61 || Int(number) + bias - 10 > max { throw refusal(number, bias: bias) }
        }
        throw SocketError(.protocolViolation, "a length of more than 64 bits")
    }

    /// The error for a length that isn't accepted.
    @usableFromInline
    func refusal(_ number: UInt64, bias: Int) -> SocketError {
        if number > 1 << 61 { return SocketError(frameOf: number, exceeds: max) }
        let payload = Int(number) + bias
        if payload < 0 {
            return SocketError(.protocolViolation, "a length of \(number), which has to be at least \(-bias)")
        }
        return SocketError(frameOf: payload, exceeds: max)
    }
}
