import CLifelineTLS
import COpenSSL
import LifelineCore

/// The file that secrets are added to, if somebody has asked for that.
final class KeyLog: @unchecked Sendable {  // Only C's lines and descriptor stand behind it, with a lock of their own.
    private let log: OpaquePointer

    init(path: String) throws(SocketError) {
        var errno: Int32 = 0
        guard !path.utf8.contains(0), let log = llt_key_log_open(path, &errno) else {
            throw SocketError(.invalidSetting, "the key log “\(path)” can't be written to", errno: errno == 0 ? nil : errno)
        }
        self.log = log
    }

    deinit { llt_key_log_close(log) }

    func add(_ line: UnsafePointer<CChar>) { llt_key_log_add(log, line) }
}
