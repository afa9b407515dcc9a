// The peer of the interop tests that speaks bodies behind a JSON header: {"size":"62"}, CR LF and 62 bytes.
//
//   node size_header_peer.mjs SECONDS serve echo STYLE SEED                listens at a free port of loopback and says "READY port"
//   node size_header_peer.mjs SECONDS connect PORT echo STYLE SEED COUNT   connects to loopback
//
// STYLE is how headers are written. What it sees is told on standard output, a line for each fact. It ends after SECONDS, and when its
// standard input is closed.
import { cutter, generator, run, say, tell } from './peer.mjs'

const alive = '{"data":"com.example.alive"}'

const styles = {
    compact: (size, rest) => JSON.stringify({ size: String(size), ...rest }),
    pretty: (size, rest) => JSON.stringify({ ...rest, size: String(size) }, null, 2),
    tabs: (size, rest) => JSON.stringify({ size: String(size), ...rest }, null, '\t') + '\n',
    number: (size, rest) => JSON.stringify({ size, ...rest }),
}

const packet = (style, rest, body) => Buffer.concat([Buffer.from(styles[style](body.length, rest) + '\r\n'), body])

/// Calls `take` with what a header says besides `size`, and with its body.
function eachPacket(socket, take) {
    let bytes = Buffer.alloc(0), header = null
    socket.on('data', piece => {
        bytes = Buffer.concat([bytes, piece])
        for (;;) {
            if (!header) {
                const end = bytes.indexOf('\r\n')
                if (end < 0) return
                header = JSON.parse(bytes.subarray(0, end))
                bytes = bytes.subarray(end + 2)
            }
            const { size, ...rest } = header
            if (bytes.length < Number(size)) return
            take(rest, bytes.subarray(0, Number(size)))
            bytes = bytes.subarray(Number(size))
            header = null
        }
    })
}

const servers = {
    /// Sends each body back behind a header that says the same, cut anywhere; only a heartbeat isn't answered. Ends when the peer has.
    echo(socket, style, seed) {
        const output = cutter(socket, generator(Number(seed)))
        eachPacket(socket, (rest, body) => {
            if (body.equals(Buffer.from(alive))) say('ALIVE')
            else output.write(packet(style, rest, body))
        })
        socket.on('end', () => output.finish())
    },
}

const clients = {
    /// Sends so many packets with keys of its own in their headers, cut and glued, and expects the same keys and bodies back.
    echo(connect, style, seed, count) {
        const random = generator(Number(seed))
        const packets = []
        for (let id = 0; id < Number(count); id++) {
            const text = '测试🙂\r\n{"size":"1"}'.repeat(Math.floor(random() * (random() < 0.9 ? 5 : 2000)))
            packets.push([{ id, type: 'chat é', tags: [1.5, true, null, { a: '"}' }] }, Buffer.from(text)])
        }
        const socket = connect()
        tell(socket, 0)
        const output = cutter(socket, random)
        for (const [rest, body] of packets) output.write(packet(style, rest, body))
        let index = 0
        eachPacket(socket, (rest, body) => {
            const [expected, bytes] = packets[index]
            const isSame = body.equals(bytes) && Object.keys(expected).every(key => JSON.stringify(rest[key]) === JSON.stringify(expected[key]))
            if (!isSame) say('DIFFERENT', index, JSON.stringify(rest))
            index += 1
            if (index < packets.length) return
            say('SAME', index)
            output.finish()
        })
    },
}

run(servers, clients)
