// What `serve --help` and `connect --help` print about TLS.
extension Help {
    static let protectedServer = """
        TLS:
          --tls            protect an endpoint that isn't tls://, such as a Unix socket
          --tls-cert FILE  this side's certificate in PEM, and those that lead from it to its
                           authority; a server needs one
          --tls-key FILE   its private key, if it doesn't stand in the same file
          --tls-sni NAME=CERT,KEY
                           others for clients that ask for that name; *.example.com is all names
                           right below; may be given several times
        \(protection)
          --tls-client required|optional
                           ask clients for a certificate, too, which has to pass --tls-ca or
                           --tls-pin; who has none is refused, or served
          --tls-ca FILE    the authorities that may have signed it, in PEM; system for those that
                           the system trusts
          --tls-pin HASH   the SHA-256 of a public key that the client may have, in Base64; may be
                           given several times; without --tls-ca nothing else counts

        SIGHUP has the certificates and keys read again; connections that are there keep theirs.
        One for trying it out, in cert.pem and key.pem, which clients take with --tls-ca cert.pem:
          openssl req -x509 -newkey rsa:2048 -nodes -days 30 -keyout key.pem -out cert.pem \\
            -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1
        """

    static let protectedClient = """
        TLS:
          --tls            protect an endpoint that isn't tls://, such as a Unix socket
          --tls-ca FILE    the authorities that may have signed the server's certificate, in PEM;
                           by default those that the system trusts, which system stands for
          --tls-name NAME  the name that it has to be for; by default the endpoint's host
          --tls-pin HASH   the SHA-256 of a public key that the server may have, in Base64; may be
                           given several times; without --tls-ca nothing else counts
          --tls-insecure   take any certificate: whoever is on the way can read and change all
          --tls-cert FILE  this side's certificate in PEM, for servers that ask for one
          --tls-key FILE   its private key, if it doesn't stand in the same file
        \(protection)
        --verbose tells what was agreed on. With TLS 1.2 the end of standard input can't be told to
        the peer: it is waited for. The hash of the key of a certificate is printed by
          openssl x509 -in cert.pem -pubkey -noout | openssl pkey -pubin -outform der |
            openssl dgst -sha256 -binary | base64
        """

    private static let protection = """
          --tls-passphrase-file FILE
                           the passphrase of encrypted private keys is the first line of FILE
          --tls-alpn NAMES the protocols that this side speaks, the best first, such as
                           chat/2,chat/1; a peer that names only others is refused
          --tls-min 1.2|1.3
                           the oldest version of TLS; 1.2 by default
          --tls-keylog FILE
                           add the secrets of each connection to FILE, for Wireshark; whoever has
                           it can read everything
        """
}
