import LifelineCore

/// Tells the connection of the moment that there is room in the inbox.
///
/// The proof behind `@unchecked`: `inbound` is used on `loop` only.
final class InboxRelay<Decoder: FrameDecoder>: InboxProducer, LoopNotice, @unchecked Sendable {
    /// On the loop.
    weak var inbound: Inbound<Decoder>?
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    func inboxHasRoom() { loop.post(self) }
    func deliver() { inbound?.deliver() }
}
