internal import ArgumentParser
internal import HCITransports
internal import VirtualController

/// What shells offer for options whose values have names. Files and directories, and lists that one option alone has,
/// stand at the options themselves.
extension CompletionKind {
    /// The forms of adapters; of those with an address, what it begins with. zsh takes what stands behind a plain colon for
    /// a description.
    static var adapters: CompletionKind {
        let forms = [
            "hci0", "hci0:user", "hci0:mgmt", "hci1", "hci1:user", "hci1:mgmt", "virtual", "tcp:", "unix:",
            "serial:/dev/",
        ]
        guard CompletionShell.requesting == .zsh else { return .list(forms) }
        return .list(forms.map { $0.split(separator: ":", omittingEmptySubsequences: false).joined(separator: "\\:") })
    }

    /// What the virtual controller can behave like.
    static let models = CompletionKind.list(VirtualControllerModel.all.map(\.name))
}
