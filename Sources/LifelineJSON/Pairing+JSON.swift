public import LifelineCore

extension Pairing {
    /// Answers have the id of their request as a value of their JSON header: `{"size":"62","id":7}`. Ids are whole numbers from 1 on; in
    /// an answer they may also stand as digits in a string. Frames without the value aren't answers.
    ///
    /// - Parameters:
    ///   - name: the value's name; `id` by default. What is sent has it overwritten.
    ///   - maximum: how many requests may be due at once; 4,096 by default, and at least 1.
    public static func headerValue<Body: Sendable>(_ name: String = "id", atMost maximum: Int = defaultMaximum) -> Pairing
    where C.Outgoing == Packet<JSONHeader, Body>, C.Decoder.Frame == Packet<JSONHeader, Bytes> {
        byID(
            Int64.self, atMost: maximum,
            assign: { packet, id in packet.header[name] = .integer(id) },
            idOf: { packet in
                switch packet.header[name] {
                case .integer(let id): id
                case .string(let digits): Int64(digits)
                default: nil
                }
            })
    }
}
