import CLifelineBench
import Glibc

/// This program in another process. It ends, at the latest, when the value does.
struct Child: ~Copyable {
    let process: pid_t
    private let output: Int32

    /// Starts it on a core, with so many seconds to live. Must be called from the main thread.
    init(_ arguments: [String], core: Int32, limit: Double) throws {
        var words = (["lifeline-bench"] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        words.append(nil)
        var output: Int32 = -1
        process = llb_spawn(words, core, UInt32(limit.rounded(.up)), &output)
        self.output = output
        guard process > 0 else { throw Trouble("cannot start \(arguments.joined(separator: " "))") }
    }

    deinit {
        guard process > 0 else { return }
        close(output)
        kill(process, SIGKILL)
        while waitpid(process, nil, 0) < 0, errno == EINTR {}
    }

    /// Seconds of processor time it has used so far.
    var processorSeconds: Double {
        llb_processor_seconds(process)
    }

    /// The next line it prints.
    func line(within seconds: Double) throws -> String {
        let deadline = ContinuousClock.now + .seconds(seconds)
        var text: [UInt8] = []
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { throw Trouble("no answer within \(Int(seconds)) s") }
            var poller = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&poller, 1, Int32(left / .milliseconds(1)) + 1) > 0 else { continue }
            var byte: UInt8 = 0
            // By the byte: there are few, and none of the next line may be taken.
            switch read(output, &byte, 1) {
            case 1 where byte == UInt8(ascii: "\n"): return String(decoding: text, as: UTF8.self)
            case 1: text.append(byte)
            case 0: throw Trouble("it ended too early")
            default: if errno != EINTR { throw Trouble("cannot read from it: \(String(cString: strerror(errno)))") }
            }
        }
    }
}
