/// What `--help` prints.
enum Help {
    static let overview = """
        lifeline \(Program.version): framed messages over connections, from a shell

        usage: lifeline demo
               lifeline serve [options] [ENDPOINT]
               lifeline connect [options] ENDPOINT

        commands:
          demo      run a chat server and four peers over TCP, and show every frame
          serve     listen: print what clients send, send them what is typed, or echo
          connect   connect: lines of standard input become frames, frames become lines

        lifeline COMMAND --help tells more; lifeline --version prints the version.

        \(endpoints)

        \(statuses)
        """

    static func text(of command: Command) -> String {
        switch command {
        case .demo: demo
        case .serve: serve
        case .connect: connect
        }
    }

    private static let demo = """
        usage: lifeline demo

        Starts a chat server on a free port of 127.0.0.1 and lets four peers talk to it over
        real TCP, one of them in bytes that are cut and glued as a network may do it. Each
        line shows the milliseconds since the start, who did what, and the frame:

             2.1  Ann     sends      “hello”

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

        SIGINT (Ctrl-C) or SIGTERM ends it in good order: clients see a clean end within 3 s.
        The endpoint, with the port that was picked for port 0, is printed on standard error.

        examples:
          lifeline serve
          lifeline serve --echo tcp://127.0.0.1:0
          lifeline serve --codec length:4be --max 1000000 unix:///tmp/chat.socket

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

        A slow peer slows standard input down, and a slow reader of standard output slows the
        peer down: nothing piles up in between. When nobody reads standard output any more,
        it stops without a word.

        examples:
          lifeline connect 127.0.0.1:7000
          echo hello | lifeline connect --codec length:2be unix:///tmp/chat.socket
          lifeline connect --codec raw 127.0.0.1:7000 <photo.jpg >copy.jpg

        \(endpoints)

        \(statuses)
        """

    private static let common = """
          --codec CODEC    line          LF or CR LF ends a line, LF is sent (default)
                           crlf          CR LF ends a line and is sent
                           length:4be    a length of 4 bytes, big-endian, before each frame;
                                         likewise 1, 2, 3 or 8 bytes, and le for little-endian
                           length:varint the same with a LEB128 number
                           raw           bytes as they come, without frames
          --max BYTES      the largest frame, in either direction; 65536 for lines and
                           1048576 for lengths by default
          --verbose        tell on standard error who comes and goes, why, and how much passed
          --help           this text
        """

    private static let endpoints = """
        endpoints:
          tcp://HOST:PORT  a name, an IPv4 address or an IPv6 address in brackets; tcp:// may be
                           left out. Listening at port 0 picks a free one.
          unix:///PATH     a Unix socket
        """

    private static let statuses = """
        exit status: 0 after a clean end, 1 after a failure, 2 if the command line is wrong.
        """
}
