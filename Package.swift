// swift-tools-version: 6.2
import PackageDescription

/// Where CI is set a warning is an error: in our own targets only, those of the dependencies are theirs.
let warnings: [SwiftSetting] = Context.environment["CI"] == "true" ? [.treatAllWarnings(as: .error)] : []

/// The same strictness everywhere: what the compiler can check, no reviewer has to.
let strict: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .strictMemorySafety(),
    ] + warnings

/// For modules whose size counts and not their speed, in the static program, which is at most 22 MB. Only
/// Tests/Support/build-static sets it: a package with unsafe flags cannot be somebody's dependency.
let small: [SwiftSetting] = strict + (Context.environment["PHAROS_SMALL"] == "true" ? [.unsafeFlags(["-Osize"])] : [])

/// For modules that compute: optimised in debug builds too, with every check left in. The Makefile and
/// Tests/Support/test set it, since the tests take a fifth of the processor time so.
let computing: [SwiftSetting] =
    Context.environment["PHAROS_FAST_DEBUG"] == "true"
    ? [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))] : []

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")

let package = Package(
    name: "pharos",
    products: [
        .executable(name: "pharos", targets: ["pharos"]),
        .executable(name: "pharos-hub", targets: ["pharos-hub"]),
        .executable(name: "pharos-benchmark", targets: ["pharos-benchmark"]),
        .executable(name: "pharos-endurance", targets: ["pharos-endurance"]),
        .library(name: "BluetoothTypes", targets: ["BluetoothTypes"]),
        .library(name: "BeaconFrames", targets: ["BeaconFrames"]),
        .library(name: "EddystoneSecurity", targets: ["EddystoneSecurity"]),
        .library(name: "HCI", targets: ["HCI"]),
        .library(name: "HCITransports", targets: ["HCITransports"]),
        .library(name: "VirtualController", targets: ["VirtualController"]),
        .library(name: "Advertiser", targets: ["Advertiser"]),
        .library(name: "Configuration", targets: ["Configuration"]),
        .library(name: "BeaconStatus", targets: ["BeaconStatus"]),
        .library(name: "BeaconService", targets: ["BeaconService"]),
        .library(name: "Profiles", targets: ["Profiles"]),
        .library(name: "Payloads", targets: ["Payloads"]),
        .library(name: "Airtime", targets: ["Airtime"]),
        .library(name: "Sightings", targets: ["Sightings"]),
        .library(name: "Listener", targets: ["Listener"]),
        .library(name: "ListenerService", targets: ["ListenerService"]),
        .library(name: "Auditing", targets: ["Auditing"]),
        .library(name: "Sites", targets: ["Sites"]),
        .library(name: "PlanReport", targets: ["PlanReport"]),
        .library(name: "QRCodes", targets: ["QRCodes"]),
        .library(name: "Fleet", targets: ["Fleet"]),
        .library(name: "FleetStore", targets: ["FleetStore"]),
        .library(name: "Planner", targets: ["Planner"]),
        .library(name: "Positioning", targets: ["Positioning"]),
        .library(name: "ESPHomeAPI", targets: ["ESPHomeAPI"]),
        .library(name: "PositioningFiles", targets: ["PositioningFiles"]),
        .library(name: "Inventory", targets: ["Inventory"]),
        .library(name: "PositioningReport", targets: ["PositioningReport"]),
        .library(name: "Publishing", targets: ["Publishing"]),
        .library(name: "Broker", targets: ["Broker"]),
        .library(name: "Collector", targets: ["Collector"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        .systemLibrary(name: "CBlueZ", pkgConfig: "bluez", providers: [.apt(["libbluetooth-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "BluetoothTypes", swiftSettings: strict + computing),
        .target(name: "TextEscaping", swiftSettings: small),
        .systemLibrary(name: "CLinux"),
        .target(name: "LinuxHost", dependencies: ["BluetoothTypes", "CLinux"], swiftSettings: small),
        // What every received octet passes is inlined by attribute, for size too.
        .target(name: "BeaconFrames", dependencies: ["BluetoothTypes"], swiftSettings: small + computing),
        .target(
            name: "EddystoneSecurity", dependencies: ["BeaconFrames", "BluetoothTypes", crypto, cryptoExtras],
            swiftSettings: small),
        .target(name: "HCI", dependencies: ["BluetoothTypes"], swiftSettings: small + computing),
        .target(name: "VirtualController", dependencies: ["BluetoothTypes", "HCI"], swiftSettings: small + computing),
        .target(
            name: "HCITransports",
            dependencies: ["BluetoothTypes", "CBlueZ", "HCI", "LinuxHost", "VirtualController"],
            swiftSettings: small),
        .target(
            name: "Advertiser", dependencies: ["BeaconFrames", "BluetoothTypes", "EddystoneSecurity", "HCI"],
            swiftSettings: small),
        .target(
            name: "Configuration", dependencies: ["BluetoothTypes", "TextEscaping"], swiftSettings: small + computing),
        .target(
            name: "Profiles", dependencies: ["BeaconFrames", "BluetoothTypes", "Configuration"], swiftSettings: small),
        .target(
            name: "BeaconStatus", dependencies: ["BluetoothTypes", "Configuration", "LinuxHost", "TextEscaping"],
            swiftSettings: small),
        .target(
            name: "Payloads",
            dependencies: ["BeaconFrames", "BluetoothTypes", "Configuration", "EddystoneSecurity", "HCI"],
            swiftSettings: small),
        .target(name: "Airtime", dependencies: ["BluetoothTypes"], swiftSettings: strict + computing),
        .target(
            name: "Sightings", dependencies: ["BeaconFrames", "BluetoothTypes"], swiftSettings: strict + computing),
        .target(
            name: "Zones", dependencies: ["BluetoothTypes", "Configuration", "Sightings"],
            swiftSettings: strict + computing),
        .target(
            name: "Listener", dependencies: ["Advertiser", "BluetoothTypes", "HCI", "Sightings"],
            swiftSettings: small + computing),
        .target(
            name: "Auditing",
            dependencies: [
                "Airtime", "BeaconFrames", "BluetoothTypes", "Configuration", "PlanReport", "Sightings", "TextEscaping",
            ],
            swiftSettings: small + computing),
        .target(
            name: "Sites", dependencies: ["Airtime", "BluetoothTypes", "Configuration", "Profiles"],
            swiftSettings: small + computing),
        .target(
            name: "Positioning",
            dependencies: ["Airtime", "BluetoothTypes", "Configuration", "Sightings", "Sites", "TextEscaping"],
            swiftSettings: strict + computing),
        .target(
            name: "PositioningFiles",
            dependencies: [
                "Airtime", "BeaconService", "BluetoothTypes", "Configuration", "EddystoneSecurity", "Fleet",
                "FleetStore", "LinuxHost", "Listener", "ListenerService", "Planner", "Positioning", "Sightings",
                "Sites", "TextEscaping",
            ],
            swiftSettings: strict + computing),
        .target(
            name: "Inventory",
            dependencies: [
                "Airtime", "BeaconFrames", "BluetoothTypes", "Configuration", "Sightings", "Sites", "TextEscaping",
            ],
            swiftSettings: strict + computing),
        .target(
            name: "Collector",
            dependencies: ["Airtime", "Configuration", "Positioning", "Publishing", "Sightings", "Sites"],
            swiftSettings: strict + computing),
        // The page's script and style are real files, embedded as they are.
        .target(
            name: "PlanReport", dependencies: ["Airtime", "TextEscaping"], resources: [.embedInCode("Page")],
            swiftSettings: small + computing),
        .target(
            name: "PositioningReport",
            dependencies: ["Airtime", "Configuration", "PlanReport", "Positioning", "Sites", "TextEscaping"],
            resources: [.embedInCode("Page")], swiftSettings: strict + computing),
        .target(name: "QRCodes", swiftSettings: small),
        .target(
            name: "Fleet",
            dependencies: [
                "Airtime", "BeaconFrames", "BluetoothTypes", "Configuration", "EddystoneSecurity", "Profiles",
                "QRCodes", "TextEscaping",
            ],
            // The samples of `profiles/fleets`.
            resources: [.embedInCode("Samples")], swiftSettings: strict + computing),
        .target(
            name: "FleetStore",
            dependencies: [
                "BeaconStatus", "BluetoothTypes", "Configuration", "EddystoneSecurity", "Fleet", "LinuxHost",
            ],
            // The role that `fleet export ansible` writes, with the units as they are shipped.
            resources: [.embedInCode("Ansible")], swiftSettings: small + computing),
        .target(
            name: "Planner",
            dependencies: [
                "Advertiser", "Airtime", "BeaconFrames", "BluetoothTypes", "Configuration", "Fleet", "LinuxHost",
                "PlanReport", "Profiles", "Sites", "TextEscaping",
            ],
            swiftSettings: small + computing),
        .target(
            name: "BeaconService",
            dependencies: [
                "Advertiser", "BeaconFrames", "BeaconStatus", "BluetoothTypes", "Configuration", "EddystoneSecurity",
                "HCI", "HCITransports", "LinuxHost", "Profiles", "TextEscaping", "VirtualController",
            ],
            swiftSettings: small),
        .target(
            name: "ListenerService",
            dependencies: [
                "Advertiser", "Auditing", "BeaconFrames", "BeaconService", "BluetoothTypes", "Configuration",
                "EddystoneSecurity", "Fleet", "FleetStore", "HCI", "HCITransports", "LinuxHost", "Listener", "Payloads",
                "Profiles", "Sightings", "VirtualController",
            ],
            swiftSettings: small),
        // The only one that knows SQLite.
        .target(name: "Store", dependencies: ["CSQLite", "LinuxHost"], swiftSettings: strict),
        // The only one that knows PostgreSQL.
        .target(name: "CPostgreSQL"),
        .target(name: "SiteStore", dependencies: ["CPostgreSQL", "LinuxHost"], swiftSettings: strict),
        .target(
            name: "Publishing",
            dependencies: ["BeaconFrames", "BluetoothTypes", "Configuration", "Sightings", "TextEscaping"],
            swiftSettings: strict),
        .systemLibrary(name: "CPaho", providers: [.apt(["libpaho-mqtt-dev"])]),
        .target(name: "Broker", dependencies: ["CPaho", "LinuxHost"], swiftSettings: strict),
        .target(
            name: "HubService",
            dependencies: [
                "Advertiser", "BeaconFrames", "BeaconService", "BeaconStatus", "BluetoothTypes", "Broker",
                "Configuration", "HCI", "Inventory", "LinuxHost", "Listener", "ListenerService", "Publishing",
                "Sightings", "Store", "TextEscaping", "Zones",
            ],
            swiftSettings: strict),
        // What the two programs' command lines share.
        .target(
            name: "CommandSupport",
            dependencies: [
                "Advertiser", "BeaconFrames", "BeaconService", "BluetoothTypes", "Configuration", "EddystoneSecurity",
                "FleetStore", "HCI", "HCITransports", "LinuxHost", "Listener", "ListenerService", "Planner", "Profiles",
                "Sightings",
                "TextEscaping", "VirtualController", argumentParser,
            ],
            swiftSettings: small),
        .executableTarget(
            name: "pharos",
            dependencies: [
                "Advertiser", "Airtime", "Auditing", "BeaconFrames", "BeaconService", "BeaconStatus", "BluetoothTypes",
                "CommandSupport", "Configuration", "EddystoneSecurity", "Fleet", "FleetStore", "HCI", "HCITransports",
                "LinuxHost",
                "Listener", "ListenerService", "Payloads", "PlanReport", "Planner", "Profiles", "Sightings", "Sites",
                "TextEscaping", "VirtualController", argumentParser,
            ],
            swiftSettings: small),
        // ESPHome's native API, as a Bluetooth proxy of Home Assistant speaks it.
        .target(name: "ESPHomeAPI", dependencies: ["BluetoothTypes", crypto], swiftSettings: strict),
        // Keeps what is heard; links Debian's libraries of C dynamically, which the static program must not.
        .executableTarget(
            name: "pharos-hub",
            dependencies: [
                "Airtime", "BeaconFrames", "BeaconService", "BluetoothTypes", "Broker", "Collector",
                "CommandSupport", "Configuration", "ESPHomeAPI", "FleetStore", "HCITransports", "HubService",
                "Inventory", "LinuxHost",
                "Listener", "ListenerService", "Positioning", "PositioningFiles", "PositioningReport", "Publishing",
                "Sightings", "SiteStore", "Sites", "Store", "TextEscaping", "Zones", argumentParser,
            ],
            swiftSettings: strict),
        .target(name: "CReferenceParser", path: "Tests/Benchmarks/CReferenceParser"),
        .target(name: "CCollisions", path: "Tests/Benchmarks/CCollisions"),
        .target(name: "CMeasurement", path: "Tests/Benchmarks/CMeasurement"),
        .executableTarget(
            name: "pharos-benchmark",
            dependencies: [
                "Airtime", "BeaconFrames", "BluetoothTypes", "CCollisions", "CMeasurement", "CReferenceParser",
                "Configuration", "EddystoneSecurity", "Fleet", "HCI", "Inventory", "LinuxHost", "Listener",
                "ListenerService", "Positioning", "PositioningFiles", "PositioningWorlds", "Profiles", "Sightings",
                "Sites", "VirtualController",
            ],
            path: "Tests/Benchmarks/Benchmark", swiftSettings: strict),
        // A beacon's life under a hand-moved clock: a few hundred sequences of faults in the unit tests, ten thousand and
        // a year in a release build.
        .target(
            name: "EnduranceWorld",
            dependencies: ["Advertiser", "BeaconFrames", "BluetoothTypes", "HCI", "VirtualController"],
            path: "Tests/Endurance/World", swiftSettings: strict + computing),
        // Audits of fleets with known faults: each kind once in the unit tests, thousands in a release build.
        .target(
            name: "EnduranceAudits", dependencies: ["Auditing", "BeaconFrames", "BluetoothTypes", "Sightings"],
            path: "Tests/Endurance/Audits", swiftSettings: strict + computing),
        // Beacons that stay in zones, come and go: hours in the unit tests, a year in a release build.
        .target(
            name: "EnduranceZones", dependencies: ["BluetoothTypes", "Sightings", "Zones"],
            path: "Tests/Endurance/Zones", swiftSettings: strict + computing),
        .executableTarget(
            name: "pharos-endurance",
            dependencies: [
                "Advertiser", "Auditing", "BluetoothTypes", "EnduranceAudits", "EnduranceWorld", "EnduranceZones",
                "HCI", "LinuxHost",
            ],
            path: "Tests/Endurance/Program", swiftSettings: strict),
        // The programs that the documentation shows.
        .executableTarget(
            name: "EncodeFrame", dependencies: ["BeaconFrames", "BluetoothTypes"], path: "Tests/Snippets/EncodeFrame",
            exclude: ["output.txt"], swiftSettings: strict),
        .executableTarget(
            name: "DecodeReport", dependencies: ["BeaconFrames", "BluetoothTypes"], path: "Tests/Snippets/DecodeReport",
            exclude: ["output.txt"], swiftSettings: strict),
        .executableTarget(
            name: "HearBeacon", dependencies: ["BluetoothTypes", "Sightings"], path: "Tests/Snippets/HearBeacon",
            exclude: ["output.txt"], swiftSettings: strict),
        .executableTarget(
            name: "ReadCapture", dependencies: ["BluetoothTypes", "HCI"], path: "Tests/Snippets/ReadCapture",
            exclude: ["output.txt"], swiftSettings: strict),
        .executableTarget(
            name: "DriveController", dependencies: ["BluetoothTypes", "HCI", "VirtualController"],
            path: "Tests/Snippets/DriveController", exclude: ["output.txt"], swiftSettings: strict),
        .executableTarget(
            name: "CollisionProbability", dependencies: ["Airtime", "BluetoothTypes"],
            path: "Tests/Snippets/CollisionProbability",
            exclude: ["output.txt"], swiftSettings: strict),
        // Surveys to hold positioning against: public recordings, and buildings that do not exist.
        .target(
            name: "PositioningWorlds", dependencies: ["Airtime", "BluetoothTypes", "Positioning"],
            path: "Tests/PositioningWorlds", swiftSettings: strict + computing),
        // Prints scores and fields for the independent implementations.
        .executableTarget(
            name: "PositioningProgram", dependencies: ["Airtime", "Positioning"], path: "Tests/PositioningProgram",
            swiftSettings: strict + computing),
        .target(name: "TestSupport", dependencies: ["LinuxHost"], path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(name: "TextEscapingTests", dependencies: ["TextEscaping"], swiftSettings: strict),
        .testTarget(name: "BluetoothTypesTests", dependencies: ["BluetoothTypes"], swiftSettings: strict),
        .testTarget(
            name: "BeaconFramesTests", dependencies: ["BeaconFrames", "BluetoothTypes"], swiftSettings: strict),
        .testTarget(
            name: "EddystoneSecurityTests", dependencies: ["BeaconFrames", "BluetoothTypes", "EddystoneSecurity"],
            swiftSettings: strict),
        .testTarget(name: "HCITests", dependencies: ["BluetoothTypes", "HCI"], swiftSettings: strict),
        .testTarget(
            name: "VirtualControllerTests", dependencies: ["BluetoothTypes", "HCI", "VirtualController"],
            swiftSettings: strict),
        .testTarget(
            name: "ConfigurationTests", dependencies: ["BluetoothTypes", "Configuration"], swiftSettings: strict),
        .testTarget(
            name: "BeaconStatusTests",
            dependencies: ["BeaconStatus", "BluetoothTypes", "Configuration", "LinuxHost", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ProfilesTests",
            dependencies: ["BeaconFrames", "BluetoothTypes", "Configuration", "Profiles", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "PayloadsTests",
            dependencies: ["BeaconFrames", "BluetoothTypes", "Configuration", "EddystoneSecurity", "HCI", "Payloads"],
            swiftSettings: strict),
        .testTarget(
            name: "SightingsTests", dependencies: ["BeaconFrames", "BluetoothTypes", "Sightings"],
            swiftSettings: strict),
        .testTarget(
            name: "ZonesTests",
            dependencies: ["BluetoothTypes", "Configuration", "EnduranceZones", "Sightings", "Zones"],
            swiftSettings: strict),
        .testTarget(
            name: "InventoryTests",
            dependencies: [
                "BeaconFrames", "BluetoothTypes", "Configuration", "Inventory", "Sightings", "Sites", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CollectorTests",
            dependencies: [
                "Airtime", "Collector", "Configuration", "Positioning", "Publishing", "Sightings", "Sites",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "AuditingTests",
            dependencies: ["Auditing", "BeaconFrames", "BluetoothTypes", "EnduranceAudits", "Sightings"],
            swiftSettings: strict),
        .testTarget(
            name: "ListenerTests",
            dependencies: [
                "Advertiser", "BeaconFrames", "BluetoothTypes", "HCI", "Listener", "Sightings", "VirtualController",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ListenerServiceTests",
            dependencies: [
                "BeaconFrames", "BeaconService", "BluetoothTypes", "Configuration", "EddystoneSecurity", "HCI",
                "HCITransports", "LinuxHost", "Listener", "ListenerService", "Sightings", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(name: "StoreTests", dependencies: ["LinuxHost", "Store", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "HubServiceTests",
            dependencies: [
                "BeaconService", "Configuration", "HubService", "LinuxHost", "ListenerService", "Sightings", "Store",
                "TestSupport", "Zones",
            ],
            swiftSettings: strict),
        .testTarget(name: "AirtimeTests", dependencies: ["Airtime", "BluetoothTypes"], swiftSettings: strict),
        .testTarget(
            name: "SitesTests",
            dependencies: ["Airtime", "BluetoothTypes", "Configuration", "Profiles", "Sites", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "PositioningTests",
            dependencies: [
                "Airtime", "BluetoothTypes", "Configuration", "Positioning", "PositioningWorlds", "Sightings", "Sites",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(name: "ESPHomeAPITests", dependencies: ["BluetoothTypes", "ESPHomeAPI"], swiftSettings: strict),
        .testTarget(
            name: "PositioningFilesTests",
            dependencies: [
                "Airtime", "BluetoothTypes", "Configuration", "HCI", "ListenerService", "Positioning",
                "PositioningFiles", "Sites", "TestSupport", "VirtualController",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PositioningReportTests",
            dependencies: [
                "Airtime", "Configuration", "PlanReport", "Positioning", "PositioningReport", "PositioningWorlds",
                "Sites", crypto,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FleetTests",
            dependencies: [
                "Airtime", "BeaconFrames", "BluetoothTypes", "Configuration", "EddystoneSecurity", "Fleet", "Profiles",
                "QRCodes",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FleetStoreTests",
            dependencies: [
                "BeaconStatus", "BluetoothTypes", "Configuration", "Fleet", "FleetStore", "LinuxHost", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PlannerTests",
            dependencies: [
                "Airtime", "BluetoothTypes", "Configuration", "Fleet", "LinuxHost", "PlanReport", "Planner", "Profiles",
                "Sites", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(name: "PlanReportTests", dependencies: ["Airtime", "PlanReport", crypto], swiftSettings: strict),
        .testTarget(name: "QRCodesTests", dependencies: ["QRCodes"], swiftSettings: strict),
        .testTarget(
            name: "AdvertiserTests",
            dependencies: [
                "Advertiser", "BeaconFrames", "BluetoothTypes", "EddystoneSecurity", "EnduranceWorld", "HCI",
                "VirtualController",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "LinuxHostTests",
            dependencies: ["BluetoothTypes", "LinuxHost", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "HCITransportsTests",
            dependencies: ["BluetoothTypes", "HCI", "HCITransports", "LinuxHost", "TestSupport", "VirtualController"],
            swiftSettings: strict),
        .testTarget(
            name: "BeaconServiceTests",
            dependencies: [
                "Advertiser", "BeaconService", "BluetoothTypes", "Configuration", "EddystoneSecurity",
                "HCITransports", "LinuxHost", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PublishingTests",
            dependencies: ["BeaconFrames", "BluetoothTypes", "Configuration", "Publishing", "Sightings"],
            swiftSettings: strict),
        .testTarget(
            name: "BrokerTests", dependencies: ["Broker", "LinuxHost", "TestSupport"], swiftSettings: strict),
        // Runs the built program as a user does, and links nothing of it.
        .testTarget(
            name: "PharosCommandTests",
            dependencies: ["BluetoothTypes", "Configuration", "HCI", "LinuxHost", "Profiles", "TestSupport"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// The thread sanitizer wants a build of its own (Tests/Support/sanitize-threads): of no more than the tests named here,
// and what they import.
if let tests = Context.environment["PHAROS_TESTS"] {
    var wanted = Set(tests.split(separator: " ").map(String.init))
    var missing = wanted
    while !missing.isEmpty {
        let imports = package.targets.filter { missing.contains($0.name) }.flatMap(\.dependencies)
        let names = imports.compactMap { dependency in
            if case .byNameItem(let name, _) = dependency { name } else { nil }
        }
        missing = Set(names).subtracting(wanted)
        wanted.formUnion(missing)
    }
    package.targets.removeAll { !wanted.contains($0.name) }
    package.products = []
    let isNeeded = package.targets.contains { target in
        target.dependencies.contains { if case .productItem = $0 { true } else { false } }
    }
    if !isNeeded { package.dependencies = [] }
}
