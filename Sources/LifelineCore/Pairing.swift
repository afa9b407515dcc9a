/// How answers find their requests on a connection: what makes ``RequestHeaderCodec`` and the like fit for
/// `Connection.request(_:within:)`. Given where a connection is made, or to a `Supervisor` for all of its connections.
///
/// ```swift
/// let connection = try await Connection.connect(to: endpoint, codec: .requestHeader, pairing: .serial())
/// let answer = try await connection.request(Packet(header: RequestHeader(command: 7), body: body), within: .seconds(3))
/// ```
///
/// An answer goes to its requester and to nobody else; frames that aren't answers go where they go without a pairing, to the reader of
/// `messages`. Answers that come late, twice or to nobody are counted (``RequestCounts``) and dropped.
public struct Pairing<C: Codec>: Sendable {
    package let rule: any PairingRule<C>

    /// How many requests may be due at once unless it is said: 4,096.
    public static var defaultMaximum: Int { 4096 }

    /// Answers have the whole number that their request was given. Numbers begin at 1 and, behind the largest, again at 1; those whose
    /// answers may still come are left out, and 0 and negative ones are never given.
    ///
    /// Of requests that were given up, whose answers may come late or never, the ids of the last 4,096 are kept from being used again,
    /// or as many as are half of the type's ids if that is less.
    /// - Parameters:
    ///   - type: the type of the ids.
    ///   - maximum: how many requests may be due at once; 4,096 by default, and at least 1.
    ///   - assign: puts the id into what is sent, in the sender's task.
    ///   - idOf: the id of the request that a received frame answers; nil if it isn't an answer. It runs on the event loop, for each
    ///     frame: it must be quick.
    public static func byID<ID: FixedWidthInteger & Sendable>(
        _ type: ID.Type = ID.self, atMost maximum: Int = defaultMaximum,
        assign: @escaping @Sendable (inout C.Outgoing, ID) -> Void, idOf: @escaping @Sendable (C.Decoder.Frame) -> ID?
    ) -> Pairing {
        byNumber(atMost: maximum, assign: assign, idOf: idOf)
    }

    /// Answers have the id that their request was given, of whatever type.
    ///
    /// Of requests that were given up, whose answers may come late or never, the ids of the last 4,096 are kept from being used again.
    /// - Parameters:
    ///   - makeID: the id for a running number, which begins at 1. Ids that are due are left out; for as long as it gives no other,
    ///     requests throw ``SocketError/Code/tooManyRequests``. It runs on the event loop: it must be quick.
    ///   - maximum: how many requests may be due at once; 4,096 by default, and at least 1.
    ///   - assign: puts the id into what is sent, in the sender's task.
    ///   - idOf: the id of the request that a received frame answers; nil if it isn't an answer. It runs on the event loop, for each
    ///     frame: it must be quick.
    public static func byID<ID: Hashable & Sendable>(
        making makeID: @escaping @Sendable (UInt64) -> ID, atMost maximum: Int = defaultMaximum,
        assign: @escaping @Sendable (inout C.Outgoing, ID) -> Void, idOf: @escaping @Sendable (C.Decoder.Frame) -> ID?
    ) -> Pairing {
        Pairing(
            rule: PairingByID<C, ID>(
                maximum: maximum, remembered: 4096, first: 1, makeID: makeID, assign: assign, idOf: idOf))
    }

    /// Answers come in the order of their requests.
    ///
    /// A request that is given up keeps its place until its answer has come, which is dropped then; so it counts as due. What the peer
    /// answers must be sent as a request, then: an answer to a plain `send` would be taken for that of the next request.
    /// - Parameters:
    ///   - maximum: how many requests may be due at once; 4,096 by default, and at least 1.
    ///   - isAnswer: tells answers from other frames. It runs on the event loop, for each frame: it must be quick. By default each frame
    ///     is an answer while one is due.
    public static func inOrder(
        atMost maximum: Int = defaultMaximum, isAnswer: (@Sendable (C.Decoder.Frame) -> Bool)? = nil
    ) -> Pairing {
        Pairing(rule: PairingInOrder<C>(maximum: maximum, isAnswer: isAnswer))
    }

    package static func byNumber<ID: FixedWidthInteger & Sendable>(
        atMost maximum: Int = defaultMaximum, startingAt first: ID = 1,
        assign: @escaping @Sendable (inout C.Outgoing, ID) -> Void, idOf: @escaping @Sendable (C.Decoder.Frame) -> ID?
    ) -> Pairing {
        let count = UInt64(clamping: ID.max)
        return Pairing(
            rule: PairingByID<C, ID>(
                maximum: maximum, remembered: Int(min(count / 2, 4096)), first: UInt64(clamping: first),
                makeID: { number in
                    // 1 ... max, over and over.
                    ID(truncatingIfNeeded: (number &- 1) % count) + 1
                },
                assign: assign, idOf: idOf))
    }
}

extension Pairing {
    /// Answers have the serial of their request, in the header of ``RequestHeaderCodec`` or of a codec made of it. Serials are given from
    /// 1 to `Int32.max`, over and over; those in what is sent are overwritten. Frames with serial 0, which the server pushes, aren't
    /// answers; nor are those with a negative one. Where the peer sends requests, too, they would be taken for answers: there use
    /// ``byID(_:atMost:assign:idOf:)``, with an `idOf` that tells them apart.
    ///
    /// - Parameter maximum: how many requests may be due at once; 4,096 by default, and at least 1.
    public static func serial<Body: Sendable>(atMost maximum: Int = defaultMaximum) -> Pairing
    where C.Outgoing == Packet<RequestHeader, Body>, C.Decoder.Frame == Packet<RequestHeader, Bytes> {
        serial(atMost: maximum, startingAt: 1)
    }

    package static func serial<Body: Sendable>(atMost maximum: Int = defaultMaximum, startingAt first: Int32) -> Pairing
    where C.Outgoing == Packet<RequestHeader, Body>, C.Decoder.Frame == Packet<RequestHeader, Bytes> {
        byNumber(
            atMost: maximum, startingAt: first,
            assign: { packet, serial in packet.header.serial = serial },
            idOf: { packet in packet.header.serial > 0 ? packet.header.serial : nil })
    }
}
