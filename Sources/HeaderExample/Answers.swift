public import Lifeline

/// The commands of the call server.
public enum Command: Int32, Sendable {
    case echo = 1
    case reverse = 2
}

/// Answers a request: the serial number pairs the answer with it, and the code tells whether it worked.
public func answer(to request: Packet<CallHeader, Bytes>) -> Packet<CallHeader, Bytes> {
    var answer = request
    switch Command(rawValue: request.header.command) {
    case .echo: answer.header.code = 0
    case .reverse:
        answer.header.code = 0
        answer.body = Bytes(request.body.reversed())
    case nil:
        answer.header.code = 404
        answer.body = Bytes()
    }
    return answer
}
