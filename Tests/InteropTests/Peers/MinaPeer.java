import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.mina.core.future.ConnectFuture;
import org.apache.mina.core.service.IoHandlerAdapter;
import org.apache.mina.core.service.IoService;
import org.apache.mina.core.session.IoSession;
import org.apache.mina.filter.codec.ProtocolCodecFilter;
import org.apache.mina.filter.codec.ProtocolDecoderException;
import org.apache.mina.filter.codec.prefixedstring.PrefixedStringCodecFactory;
import org.apache.mina.filter.codec.textline.LineDelimiter;
import org.apache.mina.filter.codec.textline.TextLineCodecFactory;
import org.apache.mina.transport.socket.nio.NioSocketAcceptor;
import org.apache.mina.transport.socket.nio.NioSocketConnector;

/**
 * The peer of the interop tests that is made of Apache MINA and its codecs for text.
 *
 * <pre>
 * java MinaPeer SECONDS serve CODEC…                  listens at a free port of loopback for each and says "READY port…"
 * java MinaPeer SECONDS connect KIND CODEC=PORT…      connects to loopback; KIND is echo or listen
 * </pre>
 *
 * The codec is unix (lines that end with LF), windows (CR LF; both accept either) or prefixed1, prefixed2, prefixed4 (texts behind so
 * many bytes of length). What it sees is told on standard output, a line for each fact. It ends after SECONDS, and when its standard
 * input is closed.
 */
public final class MinaPeer {
    private static final int LONGEST = 1 << 20;

    public static void main(String[] arguments) throws Exception {
        endBy(Integer.parseInt(arguments[0]));
        List<String> rest = Arrays.asList(arguments).subList(2, arguments.length);
        if (arguments[1].equals("serve")) {
            StringBuilder ready = new StringBuilder("READY");
            for (String codec : rest) {
                ready.append(' ').append(serve(codec));
            }
            say(ready.toString());
        } else {
            for (String pair : rest.subList(1, rest.size())) {
                connect(rest.get(0), pair.substring(0, pair.indexOf('=')), Integer.parseInt(pair.substring(pair.indexOf('=') + 1)));
            }
        }
    }

    /** An echo, with two words of its own: "all TEXT" goes to everybody, "quit" closes. Gives its port. */
    private static int serve(String codec) throws Exception {
        NioSocketAcceptor acceptor = new NioSocketAcceptor(1);
        addCodec(acceptor, codec);
        acceptor.setHandler(new IoHandlerAdapter() {
            @Override
            public void messageReceived(IoSession session, Object message) {
                String line = (String) message;
                if (line.equals("quit")) {
                    session.closeOnFlush();
                } else if (line.startsWith("all ")) {
                    acceptor.broadcast(line.substring(4));
                } else {
                    session.write(line);
                }
            }

            @Override
            public void exceptionCaught(IoSession session, Throwable cause) {
                // A length beyond the limit is what a test sends, and a peer that goes in the middle is no news either.
                if (!(cause instanceof ProtocolDecoderException) && !(cause instanceof IOException)) {
                    cause.printStackTrace();
                }
                session.closeNow();
            }
        });
        acceptor.bind(new InetSocketAddress("127.0.0.1", 0));
        return acceptor.getLocalAddress().getPort();
    }

    private static void connect(String kind, String codec, int port) throws Exception {
        List<String> lines = new ArrayList<>();
        if (kind.equals("echo")) {
            for (int index = 0; index < 200; index++) {
                lines.add("line " + index + " \u00e9\u20ac\ud83d\ude00");
            }
            lines.add("");
            lines.add("0123456789".repeat(codec.equals("prefixed1") ? 25 : codec.equals("prefixed2") ? 6_553 : 50_000));
            lines.add("last");
        } else {
            lines.add("hello");
        }
        NioSocketConnector connector = new NioSocketConnector(1);
        addCodec(connector, codec);
        connector.setHandler(new IoHandlerAdapter() {
            private int next = 0;

            @Override
            public void sessionOpened(IoSession session) {
                for (String line : lines) {
                    session.write(line);
                }
            }

            @Override
            public void messageReceived(IoSession session, Object message) {
                if (kind.equals("listen")) {
                    say(codec + " LINE " + message);
                    return;
                }
                if (!lines.get(next).equals(message)) {
                    say(codec + " DIFFERENT " + next);
                    session.closeNow();
                    return;
                }
                next++;
                if (next == lines.size()) {
                    say(codec + " SAME " + next);
                    session.closeOnFlush();
                }
            }

            /** Also when the peer has ended its side. */
            @Override
            public void sessionClosed(IoSession session) {
                say(codec + " CLOSED");
            }

            @Override
            public void exceptionCaught(IoSession session, Throwable cause) {
                say(codec + " ERROR " + cause);
                session.closeNow();
            }
        });
        ConnectFuture future = connector.connect(new InetSocketAddress("127.0.0.1", port));
        future.awaitUninterruptibly();
        if (!future.isConnected()) {
            say(codec + " ERROR " + future.getException());
        }
    }

    private static void addCodec(IoService service, String codec) {
        if (codec.startsWith("prefixed")) {
            int width = codec.charAt(8) - '0';
            PrefixedStringCodecFactory strings = new PrefixedStringCodecFactory(StandardCharsets.UTF_8);
            strings.setDecoderPrefixLength(width);
            strings.setEncoderPrefixLength(width);
            strings.setDecoderMaxDataLength(LONGEST);
            strings.setEncoderMaxDataLength(LONGEST);
            service.getFilterChain().addLast("codec", new ProtocolCodecFilter(strings));
        } else {
            LineDelimiter sending = codec.equals("windows") ? LineDelimiter.WINDOWS : LineDelimiter.UNIX;
            TextLineCodecFactory lines = new TextLineCodecFactory(StandardCharsets.UTF_8, sending, LineDelimiter.AUTO);
            lines.setDecoderMaxLineLength(LONGEST);
            lines.setEncoderMaxLineLength(LONGEST);
            service.getFilterChain().addLast("codec", new ProtocolCodecFilter(lines));
        }
    }

    private static synchronized void say(String fact) {
        System.out.println(fact);
        System.out.flush();
    }

    private static void endBy(int seconds) {
        start(() -> {
            Thread.sleep(seconds * 1000L);
            Runtime.getRuntime().halt(3);
        });
        start(() -> {
            while (System.in.read() >= 0) {}
            Runtime.getRuntime().halt(0);
        });
    }

    private interface Work {
        void run() throws Exception;
    }

    private static void start(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception failure) {
                Runtime.getRuntime().halt(4);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
