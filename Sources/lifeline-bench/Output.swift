import Glibc

/// Something that keeps the benchmark from going on, in words for people.
struct Trouble: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Prints to standard output at once, so that whoever reads a pipe sees each result when it is there.
func say(_ text: String) {
    put(text + "\n", on: STDOUT_FILENO)
}

func complain(_ text: String) {
    put("lifeline-bench: " + text + "\n", on: STDERR_FILENO)
}

func fail(_ text: String) -> Never {
    complain(text)
    exit(1)
}

private func put(_ text: String, on descriptor: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if written < 0 {
            if errno == EINTR { continue }
            exit(1)
        }
        bytes.removeFirst(written)
    }
}
