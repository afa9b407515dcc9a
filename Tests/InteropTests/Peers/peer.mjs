// What the peers that are made of Node's own sockets have in common: how they start, end and tell what they see.
import net from 'node:net'

const [seconds, mode, ...rest] = process.argv.slice(2)
const host = '127.0.0.1'
export const say = (...words) => console.log(words.join(' '))

/// A failure is told; what follows from it is up to the test.
const watched = socket => socket.on('error', error => say('ERROR', error.code))

/// What is spoken over, unless a peer says otherwise.
const tcp = {
    listen: take => net.createServer({ allowHalfOpen: true }, take),
    connect: to => net.connect({ ...to, allowHalfOpen: true }),
}

/// Serves or connects, as the command line says. `servers` and `clients` have a function for each kind, and `over` makes the sockets.
export function run(servers, clients, over = tcp) {
    setTimeout(() => process.exit(3), Number(seconds) * 1000)
    process.stdin.resume().on('close', () => process.exit(0))
    if (mode === 'serve') {
        const [kind, ...values] = rest
        const server = over.listen(socket => servers[kind](watched(socket), ...values), ...values)
        server.listen(0, host, () => say('READY', server.address().port))
    } else {
        const [port, kind, ...values] = rest
        clients[kind](() => watched(over.connect({ port: Number(port), host }, ...values)), ...values)
    }
}

/// Numbers from 0 to 1, the same for the same seed (the generator is known as mulberry32).
export function generator(seed) {
    let state = seed >>> 0
    return () => {
        state = (state + 0x6D2B79F5) >>> 0
        let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
        mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
    }
}

/// Writes in pieces that are cut anywhere, each by itself, waiting for the kernel now and then; `finish` ends this side behind the last.
export function cutter(socket, random) {
    let waiting = [], isWriting = false, isFinished = false
    socket.setNoDelay(true)
    async function writeAll() {
        isWriting = true
        while (waiting.length > 0) {
            let bytes = Buffer.concat(waiting)
            waiting = []
            while (bytes.length > 0 && !socket.destroyed) {
                // Often a few bytes, at times thousands.
                const count = 1 + Math.floor(random() * (random() < 0.7 ? 12 : 5000))
                const piece = bytes.subarray(0, count)
                bytes = bytes.subarray(count)
                if (random() < 0.5) await new Promise(done => socket.write(piece, done))
                else socket.write(piece)
            }
        }
        isWriting = false
        if (isFinished) socket.end()
    }
    return {
        write(bytes) { waiting.push(bytes); if (!isWriting) writeAll() },
        finish() { isFinished = true; if (!isWriting) socket.end() },
    }
}

/// Tells what happens to one of several connections.
export function tell(socket, name) {
    socket.on('finish', () => say(name, 'FINISHED'))
    socket.on('end', () => say(name, 'END'))
    socket.on('close', () => say(name, 'CLOSED'))
}

/// Reads slowly, 8 KiB per turn of its loop, and says how many bytes it was that count up modulo 251; ends when the peer has.
export async function slow(socket) {
    let count = 0, isRight = true, wake = () => {}
    for (const name of ['readable', 'end', 'close']) socket.on(name, () => wake())
    while (!socket.readableEnded && !socket.destroyed) {
        const piece = socket.read(Math.min(8192, socket.readableLength || 8192))
        if (piece) {
            for (const byte of piece) isRight &&= byte === count++ % 251
            await new Promise(done => setImmediate(done))
        } else if (!socket.readableEnded) {
            await new Promise(done => { wake = done })
        }
    }
    say(isRight ? 'RIGHT' : 'WRONG', count)
    socket.end()
}

/// Sends `bytes` cut anywhere, and compares what comes back with them; ends when all of it is back.
export function compare(socket, bytes, random) {
    const output = cutter(socket, random)
    let back = []
    let count = 0
    socket.on('data', piece => {
        back.push(piece)
        count += piece.length
        if (count < bytes.length) return
        say(Buffer.concat(back).equals(bytes) ? 'SAME' : 'DIFFERENT', count)
        output.finish()
    })
    output.write(bytes)
}
