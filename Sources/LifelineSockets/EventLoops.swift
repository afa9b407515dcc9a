import CLifelineSystem
import LifelineCore
import Synchronization

/// The threads that connections, servers and their handlers run on, each an event loop.
///
/// Threads start when there is something to do. Letting go of the object ends those on which nothing is left; connections that are open
/// keep theirs.
public final class EventLoops: Sendable {
    /// One loop per processor, for everybody who asks for nothing else.
    public static let shared = EventLoops()

    /// How many loops there are.
    public var count: Int { loops.count }

    package let loops: [PollingEventLoop]
    private let dealt = Atomic(0)

    /// `count` loops, at least one; by default one for each processor that the process may use.
    ///
    /// Ends the process if the system hasn't two descriptors for each.
    public convenience init(count: Int? = nil) {
        self.init(count: count, onLongJob: nil)
    }

    /// `onLongJob` is told, on the loop, of each job that holds it for longer than 50 ms.
    package init(count: Int? = nil, onLongJob: (@Sendable (Duration) -> Void)?) {
        let wanted = max(1, count ?? Int(lls_processors()))
        do throws(SocketError) {
            var made: [PollingEventLoop] = []
            for _ in 0..<wanted { made.append(try PollingEventLoop(onLongJob: onLongJob)) }
            loops = made
        } catch {
            fatalError("an event loop can't be made: \(error)")
        }
    }

    deinit {
        for loop in loops { loop.stop() }
    }

    /// The loops in turn.
    package func next() -> PollingEventLoop {
        let turn = dealt.wrappingAdd(1, ordering: .relaxed).oldValue
        return loops[Int(UInt(bitPattern: turn) % UInt(loops.count))]
    }
}
