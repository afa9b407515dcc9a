/// What `--help` prints.
enum Help {
    static let overview = """
        lifeline \(Program.version): framed messages over connections, from a shell

        usage: lifeline demo
               lifeline serve [options] [ENDPOINT]
               lifeline connect [options] ENDPOINT
               lifeline decode [options] FILE

        commands:
          demo      run a chat server, its clients, two outages and TLS, and show it all
          serve     listen: print what clients send, send them what is typed, or echo
          connect   connect: lines of standard input become frames, frames become lines
          decode    show the frames and the faults of a captured stream, and where they stand

        lifeline COMMAND --help tells more; lifeline --version prints the version.

        \(endpoints)

        \(statuses)
        """

    static func text(of command: Command) -> String {
        switch command {
        case .demo: demo
        case .serve: serve
        case .connect: connect
        case .decode: decode
        }
    }

    private static let demo = """
        usage: lifeline demo

        Starts a chat server on a free port of 127.0.0.1 and lets four peers talk to it over
        real TCP, one of them in bytes that are cut and glued as a network may do it. Each
        line shows the milliseconds since the start, who did what, and the frame:

             2.1  Ann     sends      “hello”

        Then a client stays connected to a server that dies and comes back, and to one that falls
        silent, which the client finds out by its pings; its status is shown as it changes.

        At last a server speaks TLS: with a client that knows its key and sends more than anybody
        reads, with clients that refuse its certificate, and on a connection that began in plain
        text. Its certificate comes with the demo and is worth nothing.

        It checks that everybody got what they should have, in order, and how each connection
        ended. Exit status 0 if so, 1 if anything was otherwise. It takes a moment and is
        stopped after 10 s.
        """

    private static let serve = """
        usage: lifeline serve [options] [ENDPOINT]

        Listens at ENDPOINT, tcp://127.0.0.1:7000 by default. What clients send is printed
        on standard output behind their address, and each line of standard input is sent to
        all of them. At the end of standard input it goes on serving.

        options:
          --echo           send each frame back to its sender instead; nothing is read or printed
        \(common)
        \(beats)

        \(protectedServer)

        \(lines)

        \(codecs)

        SIGINT (Ctrl-C) or SIGTERM ends it in good order: clients see a clean end within 3 s.
        The endpoint, with the port that was picked for port 0, is printed on standard error.

        examples:
          lifeline serve
          lifeline serve --echo tcp://127.0.0.1:0
          lifeline serve --codec length:4be --max 1000000 unix:///tmp/chat.socket
          lifeline serve --tls-cert cert.pem --tls-key key.pem tls://127.0.0.1:7000

        \(endpoints)

        \(statuses)
        """

    private static let connect = """
        usage: lifeline connect [options] ENDPOINT

        Connects to ENDPOINT. Each line of standard input is sent as a frame, and each frame
        that arrives is printed as a line. At the end of standard input this side of the
        connection is ended, and the rest of what the peer sends is printed until it ends
        its own side.

        options:
          --within SECONDS the time for connecting, name look-up included; 10 by default
        \(common)
        \(beats)

        \(keeping)

        \(protectedClient)

        \(lines)

        \(codecs)

        A slow peer slows standard input down, and a slow reader of standard output slows the
        peer down: nothing piles up in between. When nobody reads standard output any more,
        it stops without a word.

        examples:
          lifeline connect 127.0.0.1:7000
          echo hello | lifeline connect --codec length:2be unix:///tmp/chat.socket
          lifeline connect --codec raw 127.0.0.1:7000 <photo.jpg >copy.jpg
          printf '3/1\\thello\\n' | lifeline connect --codec type-header 127.0.0.1:7000
          lifeline connect --reconnect=0,2,6 --heartbeat 5/3:ping=pong 127.0.0.1:7000
          lifeline connect --verbose --tls-ca cert.pem tls://localhost:7000

        \(endpoints)

        \(statuses) With
        --reconnect: 0 after an interrupt, 1 also if a line was not sent, 3 if it has given up,
        4 if the server said that it doesn't want this client.
        """

    private static let keeping = """
        staying connected:
          --reconnect[=WHEN]
                           connect again when the connection is lost or can't be had. WHEN is one
                           of these, with times in seconds:
                             exponential:1,30  after 1, 2, 4, ... and at most 30, each a random
                                               time up to that; this is the default
                             0,2,6             after these times, and then give up
                             every:50          after the same time, for ever
                             at-once           at once, for ever
          --attempts COUNT give up after so many attempts in a row; one that held for 10 s begins
                           a new row
          --offline RULE   lines that are typed without a connection: wait (default) reads standard
                           input on when they can be sent, fail sends none of them, keep:COUNT and
                           drop-oldest:COUNT keep the first or the last ones
          --kicked FRAME   end when the server sends this frame: it doesn't want this client
        Each change of the link's status is a line on standard error, and so is each line that was
        not sent. At the end of standard input the link stays up; SIGINT (Ctrl-C) or SIGTERM ends
        it in good order.
        """

    private static let common = """
          --codec CODEC    what frames are on the wire, see below; line by default
          --max BYTES      the largest frame, in either direction, headers and terminators not
                           counted; 65536 for lines and texts and 1048576 otherwise by default
          --drop           drop received lines above the largest frame, and go on
          --skip BYTES     the most bytes to skip between two frames; 65536 by default
          --header HEADER  the header of lines without one
          --hex            bodies are in hexadecimal, typed and printed
          --unfinished SECONDS
                           the time for the rest of a frame that has begun; for ever by default
          --idle SECONDS   end a connection on which nothing was heard for so long
          --verbose        tell on standard error who comes and goes, why, and how much passed
          --help           this text
        """

    private static let beats = """

        heartbeats:
          --heartbeat 50:BEAT
                           send this frame every 50 s; 0+50:BEAT sends the first at once
          --heartbeat 5/3:PING=PONG
                           send PING every 5 s; unless anything is heard within 3 s of it, the
                           connection is dead
          --answer PING=PONG
                           answer the peer's pings; may be given several times
          --ignore BEAT    do nothing with the peer's beats; may be given several times
        These frames are neither printed nor echoed. They are written as lines are typed, with
        \\t, \\n, \\r, \\0, \\\\ and \\xHH in them, a = in a PING as \\x3D. With request-header no PONG
        is written: serials are set, and an answer has the header of its ping, serial included.
        """

    private static let lines = """
        A frame with a header is a line HEADER<TAB>BODY, typed or printed:
          tlv              the type, such as 7; 0 without a header
          json-header      the other keys as a JSON object, such as {"type":"chat"}; nothing if
                           there are none
          type-header      MAIN/SUB, or MAIN if there is no sub type, such as 3/1; 0 without a
                           header
          request-header   serial=7 command=2 code=0; what is left out is 0
        Bytes that were skipped, frames that were dropped, and text or JSON that is none are told
        on standard error; the last is printed as it came.
        """

    private static let codecs = """
        codecs:
        \(CodecTable.help)
        """

    private static let endpoints = """
        endpoints:
          tcp://HOST:PORT  a name, an IPv4 address or an IPv6 address in brackets; tcp:// may be
                           left out. Listening at port 0 picks a free one.
          tls://HOST:PORT  the same, protected by TLS
          unix:///PATH     a Unix socket
        """

    private static let statuses = """
        exit status: 0 after a clean end, 1 after a failure, 2 if the command line is wrong.
        """
}
