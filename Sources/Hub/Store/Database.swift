internal import CSQLite
internal import LinuxHost

/// An error of an SQLite file. Its description is one sentence that names the file.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The category of the error.
    public enum Kind: Hashable, Sendable {
        /// The file or its directory does not exist.
        case missing
        /// The user lacks the permission to open the file.
        case notPermitted
        /// The file is not a database, or is damaged.
        case corrupt
        /// The file belongs to another program or another version of Pharos, or has no tables yet.
        case foreign
        /// The disk is full or cannot be written.
        case full
        /// Another process has locked the file.
        case busy
        /// Any other error.
        case system
    }

    public let kind: Kind
    public let file: String
    /// The error message of SQLite or of the system.
    public let reason: String

    /// Creates an error.
    public init(_ kind: Kind, _ file: String, _ reason: String) {
        self.kind = kind
        self.file = file
        self.reason = reason
    }

    public var description: String {
        switch kind {
        case .missing: "\(file): there is no such file"
        case .notPermitted: "\(file): this user may not open it; run the command with sudo"
        case .corrupt: "\(file): this is not a database, or it is damaged: \(reason)"
        case .foreign: "\(file): \(reason)"
        case .full: "\(file): it cannot be written: \(reason)"
        case .busy: "\(file): another process uses this file: \(reason)"
        case .system: "\(file): \(reason)"
        }
    }
}

/// An open SQLite file, which only one thread may use.
@safe public final class Database {
    /// A value of a row.
    public enum Value: Hashable, Sendable {
        case integer(Int64)
        case text(String)
        case null

        /// The value if it is a whole number, otherwise `nil`.
        public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
        /// The value if it is a text, otherwise `nil`.
        public var text: String? { if case .text(let value) = self { value } else { nil } }
    }

    public let path: String
    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = unsafe [:]

    /// The longest wait while another process has locked the file, in milliseconds.
    public static let busyMilliseconds = 2000

    /// Opens a file. If the file is missing and `isReadOnly` is false, creates a file that only its owner may open.
    ///
    /// Throws an error if the path is not a regular file. Also throws an error if the file belongs to another user and
    /// its directory is writable for other users.
    ///
    /// - Parameters:
    ///   - application: SQLite's application id, which identifies files of this program.
    ///   - version: The version of the tables. A file with another version is refused.
    ///   - setUp: The statements that create the tables of a new file.
    ///   - milliseconds: The longest wait while another process has locked the file, for opening and for each later
    ///     statement, in milliseconds. A service that must not block should wait a short time and try again later.
    public init(
        path: String, isReadOnly: Bool = false, application: Int32, version: Int32, setUp: String,
        waiting milliseconds: Int = Database.busyMilliseconds
    ) throws(StoreError) {
        self.path = path
        try Self.refuseForeign(path, isReadOnly: isReadOnly)
        var opened: OpaquePointer?
        let flags = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let result = unsafe sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard result == SQLITE_OK, let opened = unsafe opened else {
            let error = unsafe Self.error(result, opened, path)
            unsafe sqlite3_close_v2(opened)
            throw error
        }
        unsafe handle = opened
        wait(forOthers: milliseconds)
        unsafe sqlite3_extended_result_codes(handle, 1)
        try check(application, version, setUp, isReadOnly)
    }

    /// Throws an error for files that SQLite must not open. SQLite would block on a pipe. In a directory of several
    /// users, it would apply a journal that another user has put next to the file.
    private static func refuseForeign(_ path: String, isReadOnly: Bool) throws(StoreError) {
        do throws(SystemError) {
            if !isReadOnly { try Files.createIfMissing(path) }
            for ending in ["", "-journal", "-wal", "-shm"] { try Files.refuseForeign(path + ending) }
        } catch {
            let kind: StoreError.Kind =
                switch error.errno {
                case SystemError.noEntry, SystemError.notADirectory: .missing
                case SystemError.accessDenied: .notPermitted
                case SystemError.noSpace, SystemError.readOnlyFileSystem: .full
                default: .system
                }
            throw StoreError(kind, path, error.text)
        }
    }

    deinit {
        unsafe statements.values.forEach { unsafe sqlite3_finalize($0) }
        unsafe sqlite3_close_v2(handle)
    }

    /// Sets the longest wait while another process has locked the file, in milliseconds.
    public func wait(forOthers milliseconds: Int) {
        unsafe sqlite3_busy_timeout(handle, Int32(clamping: milliseconds))
    }

    private func check(
        _ application: Int32, _ version: Int32, _ setUp: String, _ isReadOnly: Bool
    ) throws(StoreError) {
        if !isReadOnly {
            try execute("PRAGMA journal_mode = WAL")
            // A service that mostly writes needs no larger cache than 256 KiB. The default cache would grow to 2 MB.
            try execute("PRAGMA cache_size = -256")
            // With this setting, a power failure loses no event.
            try execute("PRAGMA synchronous = FULL")
        }
        let foundApplication = try number("PRAGMA application_id")
        let foundVersion = try number("PRAGMA user_version")
        if foundApplication == 0, foundVersion == 0, try number("SELECT count(*) FROM sqlite_master") == 0 {
            guard !isReadOnly else { throw StoreError(.foreign, path, "nothing has been written to this database yet") }
            try transaction { () throws(StoreError) in
                try script(setUp)
                try execute("PRAGMA application_id = \(application)")
                try execute("PRAGMA user_version = \(version)")
            }
            return
        }
        guard foundApplication == Int64(application) else {
            throw StoreError(.foreign, path, "this database belongs to another program")
        }
        guard foundVersion == Int64(version) else {
            throw StoreError(.foreign, path, "this database was made by another version of pharos")
        }
    }

    /// Runs several statements without `?` parameters.
    private func script(_ text: String) throws(StoreError) {
        let result = unsafe sqlite3_exec(handle, text, nil, nil, nil)
        guard result == SQLITE_OK else { throw unsafe Self.error(result, handle, path) }
    }

    /// Runs `body` in a transaction: either all of its changes are made, or none. When this function returns, the
    /// changes are on the disk.
    public func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try execute("BEGIN IMMEDIATE")
        do throws(StoreError) {
            try body()
            try execute("COMMIT")
        } catch {
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// Runs a statement, and ignores its rows.
    public func execute(_ statement: String, _ values: [Value] = []) throws(StoreError) {
        try query(statement, values) { _ in }
    }

    /// The number of rows that the last statement changed.
    public var changes: Int { Int(unsafe sqlite3_changes(handle)) }

    /// Returns the first column of the first row as a number; `nil` if there is no row.
    func number(_ statement: String, _ values: [Value] = []) throws(StoreError) -> Int64? {
        try rows(statement, values) { $0.first }.first?.integer
    }

    /// Returns the rows, converted by `make`. Rows for which `make` returns `nil` are left out.
    func rows<Row>(
        _ statement: String, _ values: [Value] = [], _ make: ([Value]) -> Row?
    ) throws(StoreError) -> [Row] {
        var rows: [Row] = []
        try query(statement, values) { row in
            if let row = make(row) { rows.append(row) }
        }
        return rows
    }

    /// Runs a statement, and calls `each` with each row.
    ///
    /// - Parameter values: The values of the `?` parameters, in their order.
    public func query(
        _ statement: String, _ values: [Value] = [], _ each: ([Value]) -> Void
    ) throws(StoreError) {
        let prepared = unsafe try prepare(statement)
        defer {
            unsafe sqlite3_reset(prepared)
            unsafe sqlite3_clear_bindings(prepared)
        }
        for (index, value) in values.enumerated() {
            let position = Int32(index + 1)
            switch value {
            case .integer(let number): unsafe sqlite3_bind_int64(prepared, position, number)
            case .text(let text): unsafe pharos_bind_text(prepared, position, text, Int32(clamping: text.utf8.count))
            case .null: unsafe sqlite3_bind_null(prepared, position)
            }
        }
        while true {
            let result = unsafe sqlite3_step(prepared)
            if result == SQLITE_DONE { return }
            guard result == SQLITE_ROW else { throw unsafe Self.error(result, handle, path) }
            each(unsafe Self.row(prepared))
        }
    }

    private func prepare(_ statement: String) throws(StoreError) -> OpaquePointer {
        if let prepared = unsafe statements[statement] { return unsafe prepared }
        var prepared: OpaquePointer?
        let result = unsafe sqlite3_prepare_v2(handle, statement, -1, &prepared, nil)
        guard result == SQLITE_OK, let prepared = unsafe prepared else {
            throw unsafe Self.error(result, handle, path)
        }
        unsafe statements[statement] = prepared
        return unsafe prepared
    }

    private static func row(_ statement: OpaquePointer) -> [Value] {
        (0..<(unsafe sqlite3_column_count(statement))).map { column in
            switch unsafe sqlite3_column_type(statement, column) {
            case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(statement, column))
            case SQLITE_NULL: return .null
            default:
                return .text(unsafe sqlite3_column_text(statement, column).map { unsafe String(cString: $0) } ?? "")
            }
        }
    }

    private static func error(_ result: Int32, _ handle: OpaquePointer?, _ path: String) -> StoreError {
        let reason = unsafe handle.map { unsafe String(cString: sqlite3_errmsg($0)) } ?? "error \(result)"
        let kind: StoreError.Kind =
            switch result & 0xFF {
            case SQLITE_CANTOPEN where Files.exists(path): .notPermitted
            case SQLITE_CANTOPEN: .missing
            case SQLITE_PERM, SQLITE_AUTH: .notPermitted
            case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
            case SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY: .full
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            default: .system
            }
        return StoreError(kind, path, reason)
    }
}
