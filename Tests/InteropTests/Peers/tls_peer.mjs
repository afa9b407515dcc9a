// The peer of the interop tests that is made of Node's own TLS.
//
//   node tls_peer.mjs SECONDS serve KIND OPTIONS           listens at a free port of loopback and says "READY port"
//   node tls_peer.mjs SECONDS connect PORT KIND OPTIONS    connects to loopback
//
// OPTIONS are a JSON text: `identity` (paths of a certificate and its key), `authority` (a path), `identities` (the same by name),
// `protocols` (ALPN, the best first), `asks` ("optional" or "required", for a client's certificate), `name` (the server's), `version`
// ("TLSv1.2" or "TLSv1.3"), `size` (bytes). What it sees is told on standard output, a line for each fact. It ends after SECONDS, and when its
// standard input is closed.
import fs from 'node:fs'
import tls from 'node:tls'
import { run, say, slow } from './peer.mjs'

const read = path => path && fs.readFileSync(path)

/// What the options mean to Node.
function settings(options) {
    const [cert, key] = (options.identity ?? []).map(read)
    return {
        cert, key, ca: read(options.authority), ALPNProtocols: options.protocols, minVersion: options.version, maxVersion: options.version,
        servername: options.name, requestCert: Boolean(options.asks), rejectUnauthorized: options.asks !== 'optional',
    }
}

const over = {
    listen(take, text) {
        const options = JSON.parse(text)
        const contexts = Object.entries(options.identities ?? {}).map(([name, [cert, key]]) =>
            [name, tls.createSecureContext({ cert: read(cert), key: read(key), ca: read(options.authority) })])
        const choose = (name, done) => done(null, Object.fromEntries(contexts)[name])
        const server = tls.createServer({ ...settings(options), allowHalfOpen: true, SNICallback: choose }, take)
        return server.on('tlsClientError', error => say('REFUSED', error.code))
    },
    connect(to, text) {
        return tls.connect({ ...settings(JSON.parse(text)), ...to, allowHalfOpen: true })
    },
}

/// Tells what was agreed on.
function tell(socket) {
    const peer = socket.getPeerCertificate()?.subject?.CN
    const words = {
        version: socket.getProtocol(), protocol: socket.alpnProtocol || null, name: socket.servername || null,
        isAuthorized: socket.authorized, isReused: socket.isSessionReused(), peer: peer ?? null,
    }
    say('SECURED', ...Object.entries(words).map(([name, value]) => `${name}=${value}`))
}

/// Sends `size` bytes that count up modulo 251, as fast as it may. Says STALLED and how many were taken once it hasn't been asked for more
/// for a good while.
function flood(socket, options) {
    const block = Buffer.from(Array.from({ length: 251 * 256 }, (_, index) => index % 251))
    let count = 0, watch
    const more = () => {
        clearTimeout(watch)
        while (count < options.size) {
            const piece = block.subarray(0, Math.min(block.length, options.size - count))
            count += piece.length
            if (!socket.write(piece) && count < options.size) {
                watch = setTimeout(() => say('STALLED', count), 500)
                return socket.once('drain', more)
            }
        }
        socket.end(() => say('WRITTEN', count))
    }
    socket.resume()
    more()
}

const servers = {
    /// Tells what was agreed on, sends back what comes, and ends when the peer has.
    echo(socket) {
        tell(socket)
        socket.on('data', piece => socket.write(piece))
        socket.on('end', () => socket.end())
        socket.on('close', isError => say('CLOSED', isError))
    },
    flood: (socket, text) => flood(socket, JSON.parse(text)),
    slow,
}

const clients = {
    /// Tells what was agreed on, says hello, tells the answer, and ends.
    talk(connect) {
        const socket = connect()
        socket.on('secureConnect', () => { tell(socket); socket.write('hello\n') })
        socket.on('data', piece => { say('ANSWERED', String(piece).trim()); socket.end() })
        socket.on('end', () => say('END'))
        socket.on('close', isError => say('CLOSED', isError))
    },
    flood(connect, text) {
        const socket = connect()
        socket.on('secureConnect', () => flood(socket, JSON.parse(text)))
    },
    slow(connect) {
        const socket = connect()
        socket.on('secureConnect', () => slow(socket))
    },
}

run(servers, clients, over)
