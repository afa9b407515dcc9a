// The peer of the interop tests that is killed, suspended, cut off and started again: a server of lines.
//
//   node outage_peer.mjs SECONDS serve HOST PORT      listens there, at a free port if PORT is 0, and says "READY port"
//
// It welcomes each "hello" with "welcome N", N counting from 1, and answers "ping" with "pong"; any other line is told and said again. What
// it sees is told on standard output, a line for each fact. It ends after SECONDS, and when its standard input is closed.
//
// "suspend PID MILLISECONDS answer" has it suspend that process when the next "ping" is there, answer, and let the process go on after so
// long; with "deaf" in place of "answer" that ping is the last thing it hears, on any connection.
import net from 'node:net'
import readline from 'node:readline'

const [seconds, , host, port] = process.argv.slice(2)
const say = (...words) => console.log(words.join(' '))
let welcomed = 0
let suspension
let isDeaf = false

function suspend(socket) {
    const { pid, time, manner } = suspension
    suspension = undefined
    const goOn = () => process.kill(pid, 'SIGCONT')
    process.kill(pid, 'SIGSTOP')
    process.on('exit', goOn)
    isDeaf = manner === 'deaf'
    if (!isDeaf) socket.write('pong\n')
    setTimeout(() => {
        process.off('exit', goOn)
        goOn()
        say('WENT ON')
    }, time)
}

const server = net.createServer(socket => {
    let name = '-'
    socket.setNoDelay(true)
    socket.on('error', error => say('ERROR', name, error.code))
    socket.on('close', () => say('CLOSED', name))
    readline.createInterface({ input: socket }).on('error', () => {}).on('line', line => {
        if (isDeaf) return
        if (line === 'hello') {
            name = ++welcomed
            say('WELCOMED', name)
            socket.write(`welcome ${name}\n`)
        } else if (line === 'ping') {
            if (suspension) suspend(socket)
            else socket.write('pong\n')
        } else if (line.startsWith('suspend ')) {
            const [pid, time, manner] = line.split(' ').slice(1)
            suspension = { pid: Number(pid), time: Number(time), manner }
        } else {
            say('LINE', name, line)
            socket.write(`${line}\n`)
        }
    })
})

setTimeout(() => process.exit(3), Number(seconds) * 1000)
process.stdin.resume().on('close', () => process.exit(0))
process.on('SIGTERM', () => process.exit(0))
server.listen(Number(port), host, () => say('READY', server.address().port))
