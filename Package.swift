// swift-tools-version: 6.2
import PackageDescription

// Built with Swift 6.3.1, and with 6.2.3, which Debian's unstable suite has (systemd/debian/arm64-sdk).

/// In CI a warning in one of our own targets is an error.
let warnings: [SwiftSetting] = Context.environment["CI"] == "true" ? [.treatAllWarnings(as: .error)] : []

let strict: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .strictMemorySafety(),
    ] + warnings

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

/// A library in one of the rooms of `Sources`.
func library(
    _ name: String, in room: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(room)/\(name)", resources: resources,
        swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Sources/Programs/\(name)", resources: resources,
        swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A library that only tests and benchmarks use.
func testLibrary(_ name: String, at path: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

/// A program that only tests and benchmarks use.
func testProgram(
    _ name: String, at path: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: path, exclude: exclude, swiftSettings: strict)
}

/// A program that the documentation shows.
func snippet(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    testProgram(name, at: "Tests/Snippets/\(name)", dependencies, exclude: ["output.txt"])
}

func cLibrary(_ name: String, pkgConfig: String? = nil, debian package: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig, providers: package.map { [.apt([$0])] })
}

/// The libraries from the ground up: a module imports only modules of its own room and of the rooms above it here
/// (Tests/Support/module_levels.py).
let libraries: [Target] = [
    // Bluetooth
    library("BluetoothTypes", in: "Bluetooth", []),
    library("BeaconFrames", in: "Bluetooth", ["BluetoothTypes"]),
    library("EddystoneSecurity", in: "Bluetooth", ["BeaconFrames", "BluetoothTypes", crypto, cryptoExtras]),
    // Controller
    library("HCI", in: "Controller", ["BluetoothTypes"]),
    library("VirtualController", in: "Controller", ["BluetoothTypes", "HCI"]),
    // System
    library("Configuration", in: "System", ["BluetoothTypes"]),
    library("LinuxHost", in: "System", ["BluetoothTypes", "CLinux", "Configuration", systemPackage]),
    library(
        "HCITransports", in: "System",
        ["BluetoothTypes", "CBlueZ", "HCI", "LinuxHost", "VirtualController", systemPackage]),
    // Beacon
    library("Profiles", in: "Beacon", ["BeaconFrames", "BluetoothTypes", "Configuration", "LinuxHost"]),
    library("Advertiser", in: "Beacon", ["BeaconFrames", "BluetoothTypes", "EddystoneSecurity", "HCI"]),
    library(
        "BeaconService", in: "Beacon",
        [
            "Advertiser", "BeaconFrames", "BluetoothTypes", "Configuration", "EddystoneSecurity", "HCI",
            "HCITransports", "LinuxHost", "Profiles", "VirtualController",
        ]),
    // Fleet
    library(
        "Fleet", in: "Fleet",
        [
            "BeaconFrames", "BluetoothTypes", "CQRCode", "Configuration", "EddystoneSecurity", "Profiles",
        ], resources: [.embedInCode("Samples")]),
    library(
        "FleetStore", in: "Fleet",
        [
            "BeaconService", "BluetoothTypes", "Configuration", "EddystoneSecurity", "Fleet", "LinuxHost",
        ], resources: [.embedInCode("Ansible")]),
    // Planning
    library("Airtime", in: "Planning", ["BluetoothTypes"]),
    library("Sites", in: "Planning", ["Airtime", "BluetoothTypes", "Configuration", "Profiles"]),
    library(
        "Planner", in: "Planning",
        [
            "Advertiser", "Airtime", "BeaconFrames", "BluetoothTypes", "Configuration", "EddystoneSecurity", "Fleet",
            "LinuxHost", "Profiles", "Sites",
        ], resources: [.embedInCode("Page")]),
    // Listening
    library("Sightings", in: "Listening", ["BeaconFrames", "BluetoothTypes"]),
    library(
        "Auditing", in: "Listening",
        [
            "Airtime", "BeaconFrames", "BluetoothTypes", "Configuration", "Planner", "Sightings",
        ]),
    library(
        "Listener", in: "Listening",
        [
            "Advertiser", "Auditing", "BeaconFrames", "BeaconService", "BluetoothTypes", "Configuration",
            "EddystoneSecurity", "Fleet", "FleetStore", "HCI", "HCITransports", "LinuxHost", "Profiles", "Sightings",
            "VirtualController",
        ]),
    // Hub
    library("Zones", in: "Hub", ["BluetoothTypes", "Configuration", "Sightings"]),
    library(
        "Positioning", in: "Hub",
        [
            "Airtime", "BeaconService", "BluetoothTypes", "Configuration", "EddystoneSecurity", "Fleet", "FleetStore",
            "LinuxHost", "Listener", "Planner", "Sightings", "Sites",
        ], resources: [.embedInCode("Page")]),
    library(
        "Collector", in: "Hub",
        [
            "Airtime", "Configuration", "LinuxHost", "Messaging", "Positioning", "Sightings", "Sites", "Store",
        ]),
    library(
        "Inventory", in: "Hub",
        [
            "Airtime", "BeaconFrames", "BeaconService", "BluetoothTypes", "Configuration", "HCITransports", "LinuxHost",
            "Listener", "Planner", "Sightings", "Sites",
        ]),
    library(
        "Messaging", in: "Hub",
        [
            "BeaconFrames", "BluetoothTypes", "CPaho", "Configuration", "LinuxHost", "Sightings",
        ]),
    library(
        "Rehearsal", in: "Hub",
        [
            "Advertiser", "Airtime", "Auditing", "BeaconFrames", "BeaconService", "BluetoothTypes", "Collector",
            "Configuration", "EddystoneSecurity", "Fleet", "FleetStore", "HCI", "LinuxHost", "Listener", "Planner",
            "Positioning", "Profiles", "Sightings", "Sites", "VirtualController", "Zones",
        ], resources: [.embedInCode("Page")]),
    library("Store", in: "Hub", ["CPostgreSQL", "CSQLite", "LinuxHost"]),
    library(
        "HubService", in: "Hub",
        [
            "Advertiser", "BeaconFrames", "BeaconService", "BluetoothTypes", "Configuration", "HCI", "HCITransports",
            "Inventory", "LinuxHost", "Listener", "Messaging", "Sightings", "Store", "Zones", crypto,
        ]),
]

let package = Package(
    name: "pharos",
    products: [
        .executable(name: "pharos", targets: ["pharos"]),
        .executable(name: "pharos-hub", targets: ["pharos-hub"]),
        .executable(name: "pharos-benchmark", targets: ["pharos-benchmark"]),
        .executable(name: "pharos-endurance", targets: ["pharos-endurance"]),
    ] + libraries.map { .library(name: $0.name, targets: [$0.name]) },
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: libraries,
    swiftLanguageModes: [.v6]
)

package.targets += [
    cLibrary("CBlueZ", pkgConfig: "bluez", debian: "libbluetooth-dev"),
    cLibrary("CLinux"),
    cLibrary("CQRCode", debian: "libqrcodegen-dev"),
    cLibrary("CPaho", debian: "libpaho-mqtt-dev"),
    cLibrary("CSQLite", pkgConfig: "sqlite3", debian: "libsqlite3-dev"),
    .target(name: "CPostgreSQL", path: "Sources/CLibraries/CPostgreSQL"),
]

package.targets += [
    library(
        "CommandSupport", in: "Programs",
        [
            "Advertiser", "Airtime", "BeaconFrames", "BeaconService", "BluetoothTypes", "Configuration",
            "EddystoneSecurity",
            "FleetStore", "HCI", "HCITransports", "LinuxHost", "Listener", "Planner", "Profiles", "Sightings",
            "VirtualController", argumentParser,
        ]),
    program(
        "pharos",
        [
            "Advertiser", "Airtime", "Auditing", "BeaconFrames", "BeaconService", "BluetoothTypes", "CommandSupport",
            "Configuration", "EddystoneSecurity", "Fleet", "FleetStore", "HCI", "HCITransports", "LinuxHost",
            "Listener", "Planner", "Profiles", "Sightings", "Sites", "VirtualController", argumentParser,
        ], resources: [.embedInCode("Samples")]),
    // Links Debian's C libraries dynamically, which the static program `pharos` cannot.
    program(
        "pharos-hub",
        [
            "Advertiser", "Airtime", "BeaconFrames", "BeaconService", "BluetoothTypes", "Collector", "CommandSupport",
            "Configuration", "FleetStore", "HCITransports", "HubService", "Inventory", "LinuxHost", "Listener",
            "Messaging", "Planner", "Positioning", "Rehearsal", "Sightings", "Sites", "Store", "VirtualController",
            "Zones", argumentParser,
        ]),
]

package.targets += [
    .target(name: "CReferenceParser", path: "Tests/Benchmarks/CReferenceParser"),
    .target(name: "CMeasurement", path: "Tests/Benchmarks/CMeasurement"),
    testProgram(
        "pharos-benchmark", at: "Tests/Benchmarks/Benchmark",
        [
            "Airtime", "BeaconFrames", "BluetoothTypes", "CMeasurement", "CReferenceParser",
            "Configuration", "EddystoneSecurity", "Fleet", "HCI", "Inventory", "LinuxHost", "Listener", "Positioning",
            "PositioningWorlds", "Profiles", "Sightings", "Sites", "VirtualController",
        ]),
    // Simulated lives of beacons, audits and zones: short in the unit tests, thousands in a release build.
    testLibrary(
        "EnduranceWorld", at: "Tests/Endurance/World",
        [
            "Advertiser", "BeaconFrames", "BluetoothTypes", "HCI", "VirtualController",
        ]),
    testLibrary(
        "EnduranceAudits", at: "Tests/Endurance/Audits",
        [
            "Auditing", "BeaconFrames", "BluetoothTypes", "Sightings",
        ]),
    testLibrary("EnduranceZones", at: "Tests/Endurance/Zones", ["BluetoothTypes", "Sightings", "Zones"]),
    testProgram(
        "pharos-endurance", at: "Tests/Endurance/Program",
        [
            "Advertiser", "Auditing", "BluetoothTypes", "EnduranceAudits", "EnduranceWorld", "EnduranceZones", "HCI",
            "LinuxHost",
        ]),
    // Surveys for the tests of positioning: public recordings, and simulated buildings.
    testLibrary("PositioningWorlds", at: "Tests/PositioningWorlds", ["Airtime", "BluetoothTypes", "Positioning"]),
    // Prints scores and fields for the independent implementations.
    testProgram("PositioningProgram", at: "Tests/PositioningProgram", ["Airtime", "Positioning"]),
    // Prints pages of invented rehearsals for the tests in a browser.
    testProgram("RehearsalProgram", at: "Tests/RehearsalProgram", ["Airtime", "Configuration", "Rehearsal", "Sites"]),
    testLibrary("TestSupport", at: "Tests/TestSupport", ["LinuxHost"]),
    // The kernel's advertising manager, for the tests of sessions and of the service.
    testLibrary("KernelSimulation", at: "Tests/KernelSimulation", ["BluetoothTypes", "HCI"]),
    snippet("EncodeFrame", ["BeaconFrames", "BluetoothTypes"]),
    snippet("DecodeReport", ["BeaconFrames", "BluetoothTypes"]),
    snippet("HearBeacon", ["BluetoothTypes", "Sightings"]),
    snippet("ReadCapture", ["BluetoothTypes", "HCI"]),
    snippet("DriveController", ["BluetoothTypes", "HCI", "VirtualController"]),
    snippet("CollisionProbability", ["Airtime", "BluetoothTypes"]),
]

package.targets += [
    tests(
        "AdvertiserTests",
        [
            "Advertiser", "BeaconFrames", "BluetoothTypes", "EddystoneSecurity", "EnduranceWorld", "HCI",
            "KernelSimulation", "VirtualController",
        ]),
    tests("AirtimeTests", ["Airtime", "BluetoothTypes"]),
    tests("AuditingTests", ["Auditing", "BeaconFrames", "BluetoothTypes", "EnduranceAudits", "Sightings"]),
    tests("BeaconFramesTests", ["BeaconFrames", "BluetoothTypes"]),
    tests(
        "BeaconServiceTests",
        [
            "Advertiser", "BeaconFrames", "BeaconService", "BluetoothTypes", "Configuration", "EddystoneSecurity",
            "HCI", "HCITransports", "KernelSimulation", "LinuxHost", "TestSupport",
        ]),
    tests("BluetoothTypesTests", ["BluetoothTypes"]),
    tests(
        "CollectorTests",
        [
            "Airtime", "Collector", "Configuration", "LinuxHost", "Messaging", "Positioning", "Sightings", "Sites",
            "Store", "TestSupport",
        ]),
    tests("ConfigurationTests", ["BluetoothTypes", "Configuration"]),
    tests("EddystoneSecurityTests", ["BeaconFrames", "BluetoothTypes", "EddystoneSecurity"]),
    tests(
        "FleetStoreTests",
        [
            "BeaconService", "BluetoothTypes", "Configuration", "EddystoneSecurity", "Fleet", "FleetStore", "LinuxHost",
            "TestSupport",
        ]),
    tests(
        "FleetTests",
        ["BeaconFrames", "BluetoothTypes", "Configuration", "EddystoneSecurity", "Fleet", "Profiles"]),
    tests("HCITests", ["BluetoothTypes", "HCI"]),
    tests(
        "HCITransportsTests",
        [
            "BluetoothTypes", "HCI", "HCITransports", "LinuxHost", "TestSupport", "VirtualController",
        ]),
    tests(
        "HubServiceTests",
        [
            "BeaconService", "BluetoothTypes", "Configuration", "HubService", "LinuxHost", "Listener", "Sightings",
            "Store", "TestSupport", "Zones",
        ]),
    tests(
        "InventoryTests",
        [
            "BeaconFrames", "BluetoothTypes", "Configuration", "HCI", "Inventory", "LinuxHost", "Listener", "Sightings",
            "Sites", "TestSupport",
        ]),
    tests("LinuxHostTests", ["BluetoothTypes", "LinuxHost", "TestSupport", systemPackage]),
    tests(
        "ListenerTests",
        [
            "Advertiser", "BeaconFrames", "BeaconService", "BluetoothTypes", "Configuration", "EddystoneSecurity",
            "Fleet", "HCI", "HCITransports", "LinuxHost", "Listener", "Sightings", "TestSupport", "VirtualController",
        ]),
    tests(
        "MessagingTests",
        [
            "BeaconFrames", "BluetoothTypes", "Configuration", "LinuxHost", "Messaging", "Sightings", "TestSupport",
        ]),
    tests("PharosCommandTests", ["BluetoothTypes", "Configuration", "HCI", "LinuxHost", "Profiles", "TestSupport"]),
    tests(
        "PharosHubCommandTests",
        [
            "BluetoothTypes", "CommandSupport", "Configuration", "HCI", "LinuxHost", "Store", "TestSupport",
            "pharos-hub",
        ]),
    tests(
        "PlannerTests",
        [
            "Airtime", "BluetoothTypes", "Configuration", "Fleet", "LinuxHost", "Planner", "Profiles", "Sites",
            "TestSupport",
        ]),
    tests(
        "PositioningTests",
        [
            "Airtime", "BluetoothTypes", "Configuration", "HCI", "Listener", "Planner", "Positioning",
            "PositioningWorlds", "Sightings", "Sites", "TestSupport", "VirtualController",
        ]),
    tests("ProfilesTests", ["BeaconFrames", "BluetoothTypes", "Configuration", "Profiles", "TestSupport"]),
    tests(
        "RehearsalTests",
        ["Airtime", "BluetoothTypes", "Configuration", "LinuxHost", "Planner", "Rehearsal", "TestSupport"]),
    tests("SightingsTests", ["BeaconFrames", "BluetoothTypes", "Sightings"]),
    tests("SitesTests", ["Airtime", "BluetoothTypes", "Configuration", "Profiles", "Sites", "TestSupport"]),
    tests("StoreTests", ["LinuxHost", "Store", "TestSupport"]),
    tests("VirtualControllerTests", ["BluetoothTypes", "HCI", "VirtualController"]),
    tests("ZonesTests", ["BluetoothTypes", "Configuration", "EnduranceZones", "Sightings", "Zones"]),
]

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
