public import Lifeline

/// What a chat packet says, told by its type and subtype: dispatch is a plain `switch` over what the C struct's header holds.
public enum ChatEvent: Sendable, Equatable {
    /// A text for everybody.
    case said(String)
    /// A text for one reader.
    case whispered(String)
    /// Somebody is there, or no longer there.
    case presence(name: String, isHere: Bool)
    /// The peer is alive; nothing to do.
    case heartbeat
    /// A type that this version doesn't know: newer peers may send it.
    case unknown(mainType: Int32, subType: Int32)

    /// The event that a packet is.
    public init(_ packet: Packet<ChatHeader, Bytes>) {
        switch (packet.header.mainType, packet.header.subType) {
        case (1, 1): self = .said(String(packet.body))
        case (1, 2): self = .whispered(String(packet.body))
        case (2, let subType) where subType == 0 || subType == 1:
            self = .presence(name: String(packet.body), isHere: subType == 1)
        case (0, _): self = .heartbeat
        case (let mainType, let subType): self = .unknown(mainType: mainType, subType: subType)
        }
    }
}

extension Packet where Header == ChatHeader, Body == Bytes {
    /// A text for everybody.
    public static func saying(_ text: String) -> Self {
        Packet(header: ChatHeader(mainType: 1, subType: 1), body: Bytes(text))
    }
}

/// The chat server's packets. Garbage between them is skipped, at most 64 KiB at a time, and each skip is reported as a finding.
public func chatCodec() -> Resynchronizing<HeaderCodec<ChatHeader>> {
    HeaderCodec(ChatHeader.self, max: 256 * 1024).resynchronizing()
}
