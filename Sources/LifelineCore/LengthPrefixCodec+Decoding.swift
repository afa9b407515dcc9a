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
        // The number is judged before what stands behind it in the header has come.
        guard input.count >= fieldEnd else { return nil }
        let number = number(in: input)
        let payload = payload(number, bias: bias)
        guard isAcceptable(number, payload) else { throw refusal(number, bias: bias) }
        return input.count >= headerCount ? Header(count: headerCount, payload: payload) : nil
    }

    /// The number in a length field of fixed width, all of which is there.
    @inlinable
    func number(in input: ByteInput) -> UInt64 {
        let place = input.start + offset
        return switch width {
        case .one: UInt64(place.load(as: UInt8.self))
        case .two: UInt64(order.convert(place.loadUnaligned(as: UInt16.self)))
        case .four: UInt64(order.convert(place.loadUnaligned(as: UInt32.self)))
        case .eight: order.convert(place.loadUnaligned(as: UInt64.self))
        case .three, .varint: threeBytes(at: place)
        }
    }

    /// The bytes of payload that a number stands for, if it is acceptable.
    @inlinable
    func payload(_ number: UInt64, bias: Int) -> Int { Int(truncatingIfNeeded: number) &+ bias }

    /// Within these bounds the sum can't overflow, and a negative one is above the limit when its sign is taken for a digit.
    @inlinable
    func isAcceptable(_ number: UInt64, _ payload: Int) -> Bool {
        number <= 1 << 61 && UInt(bitPattern: payload) <= UInt(bitPattern: max)
    }

    @usableFromInline
    func threeBytes(at place: UnsafeRawPointer) -> UInt64 {
        let first = UInt64(place.load(as: UInt8.self))
        let middle = UInt64(place.load(fromByteOffset: 1, as: UInt8.self)) << 8
        let last = UInt64(place.load(fromByteOffset: 2, as: UInt8.self))
        return order == .big ? first << 16 | middle | last : last << 16 | middle | first
    }

    /// What a varint at the front says.
    @usableFromInline
    enum Varint {
        case header(Header)
        case incomplete
        /// A number that isn't acceptable with what is added to it.
        case refused(UInt64, bias: Int)
        case overlong
    }

    @usableFromInline
    func varint(in input: ByteInput) -> Varint {
        var number: UInt64 = 0
        for place in 0..<10 {
            guard offset + place < input.count else { return .incomplete }
            let byte = input[offset + place]
            if place == 9, byte > 1 { break }
            number |= UInt64(byte & 0x7F) << UInt64(7 * place)
            let size = place + 1
            let bias = bias - varintWeight * size
            if byte < 0x80 {
                let payload = payload(number, bias: bias)
                guard isAcceptable(number, payload) else { return .refused(number, bias: bias) }
                guard offset + size + layout.trailing <= input.count else { return .incomplete }
                return .header(Header(count: headerCount + size, payload: payload))
            }
            // More digits only add to the number, at most nine bytes to what it counts: no need to wait for the rest of it.
            if number > 1 << 61 || Int(number) + bias - 10 > max { return .refused(number, bias: bias) }
        }
        return .overlong
    }

    @usableFromInline
    func varintHeader(in input: ByteInput) throws(SocketError) -> Header? {
        switch varint(in: input) {
        case .header(let header): return header
        case .incomplete: return nil
        case .refused(let number, let bias): throw refusal(number, bias: bias)
        case .overlong: throw SocketError(.protocolViolation, "a length of more than 64 bits")
        }
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

extension LengthPrefixCodec: HeaderedCodec {
    /// A frame can begin with a length within the limit. That is little to tell one from garbage by, unless the field is wide and the
    /// limit low.
    @inlinable
    public func frameStart(in input: ByteInput) -> FrameStart {
        guard width != .varint else { return varintStart(in: input) }
        guard input.count >= fieldEnd else { return .incomplete }
        let number = number(in: input)
        let payload = payload(number, bias: bias)
        return isAcceptable(number, payload) ? .frame(byteCount: headerCount &+ payload) : .impossible
    }

    @usableFromInline
    func varintStart(in input: ByteInput) -> FrameStart {
        switch varint(in: input) {
        case .header(let header): .frame(byteCount: header.count + header.payload)
        case .incomplete: .incomplete
        case .refused, .overlong: .impossible
        }
    }
}
