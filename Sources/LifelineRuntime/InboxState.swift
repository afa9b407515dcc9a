public import LifelineCore

// The small types of an inbox. Not nested in it: a type nested in a generic one is looked up at run time, with each frame.

/// What fetching the frames that have arrived found.
@usableFromInline
enum InboxRefill {
    case filled
    case nothing
    case ended(CloseReason)
    case busy
}

/// The call that waits. It is woken without a frame and then takes it itself, so that nothing here has to know what a frame is.
struct InboxWaiter {
    let id: UInt64
    /// Whoever cancels its task ends the wait.
    let isWatched: Bool
    /// Nil once it was woken.
    var continuation: UnsafeContinuation<Void, any Error>?
}

/// What adding frames came to.
package struct InboxAdded {
    /// Decoding has to pause.
    package let isPaused: Bool
    /// How many frames may be added, at least.
    package let room: Int
}

/// Why the loop doesn't decode on.
enum InboxPause {
    /// The high mark is reached; decoding goes on at the low mark.
    case full
    /// The decoder marked the last frame; decoding goes on when the reader asks for the next.
    case marked
}
