/// What a `#define` or `#undef` makes of a name.
enum Macro: Sendable {
    /// The name stands for these tokens.
    case tokens([Token])
    /// The name is defined, and what it stands for isn't known here: a macro with arguments, or one of the compiler's own.
    case opaque
    /// The name isn't defined, for certain.
    case undefined

    /// The compiler's own macros that are the same wherever the layout is the one promised: C by clang or gcc on 64-bit Linux and Darwin.
    /// What differs between these, such as `__APPLE__`, stays open.
    static let ofCompilers: [String: Decided<Macro>] = {
        var macros: [String: Decided<Macro>] = [:]
        for name in ["__GNUC__", "__STDC__"] { macros[name] = .known(.opaque) }
        for name in ["__cplusplus", "_MSC_VER", "_WIN32", "_WIN64", "__MINGW32__", "__CYGWIN__", "__BORLANDC__"] {
            macros[name] = .known(.undefined)
        }
        return macros
    }()
}
