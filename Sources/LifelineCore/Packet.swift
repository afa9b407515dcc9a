/// A frame with a header of its own: what the header says, and the body behind it.
///
/// Dispatch by what the header says reads as a plain `switch`:
///
/// ```swift
/// switch (packet.header.mainType, packet.header.subType) {
/// case (1, 1): log(in: packet.body)
/// case (2, _): show(packet.body)
/// default: break
/// }
/// ```
public struct Packet<Header: Sendable, Body: Sendable>: Sendable {
    /// What the header says, apart from the length of the body.
    public var header: Header
    /// What stands behind the header.
    public var body: Body

    /// A packet of these two.
    @inlinable
    public init(header: Header, body: Body) {
        self.header = header
        self.body = body
    }
}

extension Packet: Equatable where Header: Equatable, Body: Equatable {}
extension Packet: Hashable where Header: Hashable, Body: Hashable {}
