package import LifelineCore

/// Sees each frame of a connection on the event loop, before the inbox gets it and whether or not the user reads: answers to pings and to
/// requests are found so.
///
/// Decoding pauses while the inbox is above its high mark, and then nothing is seen either. A taker belongs to its connection's
/// ``Inbound`` and goes with it; it must not hold the connection.
package protocol FrameTaker<Frame>: AnyObject {
    associatedtype Frame: Sendable

    /// True if `frame` isn't for the user's reader; nobody else sees it then. Must be quick.
    func take(_ frame: Frame) -> Bool
    /// As ``take(_:)``, for a frame that the connection before this one on the same stream has decoded and shown to its own takers.
    func retake(_ frame: Frame) -> Bool
    /// No more frames come, for `reason`. Called once, behind the last frame.
    func noMoreFrames(_ reason: CloseReason)
}

extension FrameTaker {
    package func retake(_ frame: Frame) -> Bool { take(frame) }
}
