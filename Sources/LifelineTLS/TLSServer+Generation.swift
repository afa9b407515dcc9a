import CLifelineTLS
import COpenSSL
import LifelineCore

extension TLSServer {
    /// A server's certificates from one time until they are replaced.
    final class Generation: Sendable {
        /// For clients that ask for no name, or for one that isn't known.
        let fallback: TLSContext
        private let exact: [String: TLSContext]
        /// By the domain, without `*.`.
        private let wildcards: [String: TLSContext]

        fileprivate init(fallback: TLSContext, exact: [String: TLSContext], wildcards: [String: TLSContext]) {
            self.fallback = fallback
            self.exact = exact
            self.wildcards = wildcards
        }

        /// The context of a name in lower case; nil if it is the fallback's.
        func context(for name: String) -> TLSContext? {
            if let context = exact[name] { return context }
            guard !wildcards.isEmpty, let dot = name.firstIndex(of: ".") else { return nil }
            return wildcards[String(name[name.index(after: dot)...])]
        }
    }

    /// The keys that a server's tickets are encrypted with, made by OpenSSL.
    struct TicketKeys: Sendable {
        private let bytes: [UInt8]

        init() throws(SocketError) {
            var bytes = [UInt8](repeating: 0, count: Int(LLT_TICKET_KEYS_SIZE))
            // OpenSSL makes new ones for each context.
            guard let context = llt_context_new(true, Int32(TLSVersion.tls12.rawValue)) else { throw .noMemory }
            defer { SSL_CTX_free(context) }
            guard llt_context_get_ticket_keys(context, &bytes) else { throw .invalidSetting("there are no keys for tickets") }
            self.bytes = bytes
        }

        func give(to context: TLSContext) throws(SocketError) {
            guard llt_context_set_ticket_keys(context.pointer, bytes) else { throw .noMemory }
        }
    }
}

extension TLSServer.Generation {
    /// Makes contexts that differ in nothing but the certificate.
    struct Maker {
        let settings: TLSServer.Settings
        let trust: TLSTrust.Resolved?
        let protocols: ApplicationProtocols
        let ticketKeys: TLSServer.TicketKeys

        func make(_ identity: TLSIdentity, named identities: [String: TLSIdentity]) throws(SocketError) -> TLSServer.Generation {
            var exact: [String: TLSContext] = [:]
            var wildcards: [String: TLSContext] = [:]
            for (pattern, identity) in identities {
                let isWildcard = pattern.hasPrefix("*.")
                guard case .dns(let name)? = PeerName(isWildcard ? String(pattern.dropFirst(2)) : pattern) else {
                    throw SocketError(.invalidSetting, "“\(pattern)” is neither a DNS name nor “*.” and a domain")
                }
                let made = try context(identity, for: isWildcard ? "*.\(name)" : name)
                let former = isWildcard ? wildcards.updateValue(made, forKey: name) : exact.updateValue(made, forKey: name)
                guard former == nil else { throw SocketError(.invalidSetting, "“\(pattern)” has two certificates") }
            }
            return TLSServer.Generation(fallback: try context(identity, for: ""), exact: exact, wildcards: wildcards)
        }

        private func context(_ identity: TLSIdentity, for pattern: String) throws(SocketError) -> TLSContext {
            let context = try TLSContext(isServer: true, minimumVersion: settings.minimumVersion, cipherSuites: settings.cipherSuites)
            try context.use(identity)
            try ask(for: settings.clientCertificates, in: context)
            try ticketKeys.give(to: context)
            try context.setSessionScope(pattern)
            try TLSHandle.listen(
                on: context.pointer, isServer: true, logsKeys: settings.keyLogPath != nil, sessions: settings.resumesSessions,
                protocols: protocols)
            return context
        }

        private func ask(for certificates: TLSServer.ClientCertificates, in context: TLSContext) throws(SocketError) {
            guard let trust else { return context.trust(TLSTrust.Resolved(store: nil, authorities: [], pins: nil), LLT_NOT_ASKED_FOR) }
            let verification =
                switch certificates {
                case .none: LLT_NOT_ASKED_FOR
                case .optional: trust.store == nil ? LLT_ANY : LLT_OPTIONAL
                case .required: trust.store == nil ? LLT_ANY_REQUIRED : LLT_REQUIRED
                }
            context.trust(trust, verification)
            for authority in trust.authorities where !llt_context_ask_for(context.pointer, authority.pointer) { throw .noMemory }
        }
    }
}

extension TLSContext {
    /// Sessions are gone on with only where the same certificate is meant (RFC 6066, 3). To be called before the context is used.
    func setSessionScope(_ scope: String) throws(SocketError) {
        var hash = [UInt8](repeating: 0, count: Int(LLT_HASH_SIZE))
        let text = Array("lifeline \(scope)".utf8)
        guard llt_hash(text, text.count, &hash), SSL_CTX_set_session_id_context(pointer, hash, UInt32(hash.count)) == 1 else {
            throw .noMemory
        }
    }
}
