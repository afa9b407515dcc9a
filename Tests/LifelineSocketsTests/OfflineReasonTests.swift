import Glibc
import LifelineCore
import Testing

@testable import LifelineSockets

struct OfflineReasonTests {
    /// A socket that isn't connected any more is 57 on Darwin and 107 on Linux; it and its like are one reason, and the number is kept.
    @Test(arguments: [ENOTCONN, ECONNRESET, EPIPE, ENETDOWN, ENETUNREACH, EHOSTUNREACH, ETIMEDOUT])
    func aNetworkThatIsGoneIsOneReason(number: Int32) {
        let error = SocketError(errno: number, "reading")
        guard case .networkGone(let told) = OfflineReason(.failed(error)) else {
            Issue.record("\(OfflineReason(.failed(error)))")
            return
        }
        #expect(told.errno == number && OfflineReason(.failed(error)).mayRetry)
    }
}
