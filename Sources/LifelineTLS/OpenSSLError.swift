import CLifelineTLS
import LifelineCore

/// An error of OpenSSL's.
struct OpenSSLError {
    let library: llt_library
    /// In the library SSL one of `SSL_R_`, or an alert of the peer's; of the system its number.
    let reason: Int32
    let isNoMemory: Bool
    let words: String

    /// Takes all that the thread's queue holds, the oldest first, so that no other connection finds it.
    static func drain() -> [OpenSSLError] {
        var errors: [OpenSSLError] = []
        var next = llt_error()
        while llt_next_error(&next) { errors.append(OpenSSLError(next)) }
        return errors
    }

    private init(_ error: llt_error) {
        library = error.library
        reason = error.reason
        isNoMemory = error.is_no_memory
        words = withUnsafeBytes(of: error.words) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension SocketError {
    /// A setting that OpenSSL doesn't take. Its queue is empty then.
    static func invalidSetting(_ words: String) -> SocketError {
        let errors = OpenSSLError.drain()
        if errors.contains(where: \.isNoMemory) { return noMemory }
        let errno = errors.first { $0.library == LLT_LIBRARY_SYSTEM }?.reason
        let why = errors.last.map { ": \($0.words)" } ?? ""
        return SocketError(.invalidSetting, words + why, errno: errno)
    }

    static var noMemory: SocketError { SocketError(.resourcesExhausted, "no memory for TLS") }
}
