// swift-tools-version: 6.2
import PackageDescription

// One array for every Swift target: what the language will be, today, and no warning stays.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    .enableUpcomingFeature("ExistentialAny"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    .enableUpcomingFeature("InternalImportsByDefault"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    .enableUpcomingFeature("MemberImportVisibility"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0470-isolated-conformances.md
    .enableUpcomingFeature("InferIsolatedConformances"),
]

let package = Package(
    name: "lifeline",
    // The first releases with task executors and isolated deinit.
    platforms: [.macOS("15.4"), .iOS("18.4"), .tvOS("18.4"), .watchOS("11.4"), .visionOS("2.4")],
    products: [
        .library(name: "Lifeline", targets: ["Lifeline"]),
        .library(name: "LifelineJSON", targets: ["LifelineJSON"]),
        .library(name: "LifelineTLS", targets: ["LifelineTLS"]),
        .library(name: "LifelineTesting", targets: ["LifelineTesting"]),
        .executable(name: "lifeline", targets: ["LifelineTool"]),
        .executable(name: "lifeline-bench", targets: ["lifeline-bench"]),
        .plugin(name: "CheckFloors", targets: ["CheckFloors"]),
        .plugin(name: "GenerateHeaders", targets: ["GenerateHeaders"]),
    ],
    targets: [
        // Floor 0: values.
        .target(name: "LifelineCore", swiftSettings: settings),

        // Floor 1: everything that lives, without a system call.
        .target(name: "LifelineRuntime", dependencies: ["LifelineCore"], swiftSettings: settings),

        // Floor 1, too: bodies and headers that are JSON.
        .target(name: "LifelineJSON", dependencies: ["LifelineCore"], swiftSettings: settings),

        // Floor 2: the system, and the network that never existed.
        .target(name: "CLifelineSystem"),
        .target(
            name: "LifelineSockets",
            dependencies: ["LifelineCore", "LifelineRuntime", "CLifelineSystem"],
            swiftSettings: settings),
        .target(name: "CLifelineTesting"),
        .target(
            name: "LifelineTesting",
            dependencies: ["LifelineCore", "LifelineRuntime", "CLifelineTesting"],
            swiftSettings: settings),

        // Floor 2, too: networks over another. OpenSSL 3 is the system's.
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .yum(["openssl-devel"]), .brew(["openssl@3"])]),
        .target(name: "CLifelineTLS", dependencies: ["COpenSSL"]),
        .target(
            name: "LifelineTLS",
            dependencies: ["LifelineCore", "LifelineRuntime", "COpenSSL", "CLifelineTLS"],
            swiftSettings: settings),

        // Floor 3: names and thin mains.
        .target(
            name: "Lifeline",
            dependencies: ["LifelineCore", "LifelineRuntime", "LifelineJSON", "LifelineSockets"],
            swiftSettings: settings),
        .executableTarget(name: "LifelineTool", dependencies: ["Lifeline", "LifelineTLS"], swiftSettings: settings),
        .target(name: "CLifelineBench"),
        .executableTarget(
            name: "lifeline-bench",
            dependencies: [
                "Lifeline", "LifelineCore", "LifelineRuntime", "LifelineSockets", "LifelineTLS", "LifelineTesting", "CLifelineBench",
            ],
            swiftSettings: settings),

        // The house's own check: which floor may import and call what.
        .executableTarget(name: "FloorCheck", swiftSettings: settings),
        .plugin(
            name: "CheckFloors",
            capability: .command(
                intent: .custom(
                    verb: "check-floors",
                    description: "Checks that every target imports only lower floors and calls only what its floor may.")),
            dependencies: ["FloorCheck"]),

        // Headers made of a server team's C structs: the generator, the plugin that runs it, and an example.
        .target(name: "HeaderGeneration", swiftSettings: settings),
        .executableTarget(name: "HeaderGenerator", dependencies: ["HeaderGeneration"], swiftSettings: settings),
        .plugin(name: "GenerateHeaders", capability: .buildTool(), dependencies: ["HeaderGenerator"]),
        .target(name: "HeaderExample", dependencies: ["Lifeline"], swiftSettings: settings, plugins: ["GenerateHeaders"]),

        .testTarget(name: "LifelineCoreTests", dependencies: ["LifelineCore"], swiftSettings: settings),
        .testTarget(
            name: "LifelineJSONTests",
            dependencies: ["Lifeline", "LifelineTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "LifelineRuntimeTests",
            dependencies: ["LifelineCore", "LifelineRuntime", "LifelineTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "LifelineSocketsTests",
            dependencies: ["Lifeline", "LifelineTesting", "CLifelineSystem"],
            swiftSettings: settings),
        .testTarget(
            name: "LifelineTLSTests",
            dependencies: ["Lifeline", "LifelineTLS", "LifelineTesting", "COpenSSL", "CLifelineTLS"],
            exclude: ["Certificates"],
            swiftSettings: settings),
        .testTarget(
            name: "LifelineTestingTests",
            dependencies: ["LifelineCore", "LifelineRuntime", "LifelineTesting"],
            swiftSettings: settings),
        // The whole stack on a network that breaks, for thousands of seeds.
        .testTarget(
            name: "SimulationTests",
            dependencies: ["LifelineCore", "LifelineRuntime", "LifelineTLS", "LifelineTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "InteropTests",
            dependencies: ["Lifeline", "LifelineTLS"],
            exclude: ["Peers"],
            swiftSettings: settings),
        .testTarget(
            name: "HeaderGenerationTests",
            dependencies: ["HeaderGeneration", "HeaderExample", "Lifeline", "LifelineTesting"],
            swiftSettings: settings,
            plugins: ["GenerateHeaders"]),
        .testTarget(
            name: "ReadmeTests",
            dependencies: ["Lifeline", "LifelineTLS", "LifelineTesting"],
            swiftSettings: settings,
            plugins: ["GenerateHeaders"]),
        // They run the tool as a program, which the dependency has built, and are its peers.
        .testTarget(name: "ToolTests", dependencies: ["LifelineTool", "Lifeline", "LifelineTLS"], swiftSettings: settings),
    ]
)
