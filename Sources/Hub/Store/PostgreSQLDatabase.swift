internal import CPostgreSQL
internal import Glibc
internal import LinuxHost

/// The connection string and the password for a PostgreSQL database.
public struct PostgreSQLOptions: Hashable, Sendable {
    /// A connection string of libpq, such as `host=db dbname=pharos`, or a URI.
    public let connection: String
    let password: String?

    /// The largest size of a password file, in bytes.
    private static let sizeLimit = 4096

    /// Reads the password, loads libpq, and checks the connection string with libpq. Does not connect to the server.
    ///
    /// - Parameter passwordFile: The path of a file whose only line is the password. Other users must not be able to
    ///   read the file. `nil` to use libpq's own password file.
    public init(connection: String, passwordFile: String? = nil) throws(PostgreSQLError) {
        self.connection = connection
        password = try passwordFile.map { path throws(PostgreSQLError) in try Self.password(path) }
        if let reason = unsafe pharos_pg_load() {
            throw PostgreSQLError(
                .unreachable,
                "PostgreSQL: its library cannot be loaded: \(unsafe String(cString: reason)): apt install libpq5")
        }
        guard connection.contains("=") || connection.contains("://") else { return }
        var message: UnsafeMutablePointer<CChar>?
        let parts = unsafe PQconninfoParse(connection, &message)
        defer {
            unsafe PQconninfoFree(parts)
            unsafe PQfreemem(message)
        }
        guard unsafe parts == nil else { return }
        let reason = unsafe message.map { unsafe String(cString: $0) } ?? ""
        throw PostgreSQLError(.invalid, "PostgreSQL: \"connection\": \(PostgreSQLError.reason(reason))")
    }

    private static func password(_ path: String) throws(PostgreSQLError) -> String {
        let secret: Files.Secret
        do throws(SystemError) {
            secret = try Files.readSecret(path, limit: sizeLimit)
        } catch {
            throw PostgreSQLError(error, reading: path)
        }
        if let weakness = secret.weakness { throw PostgreSQLError(.invalid, weakness.text("password", at: path)) }
        var octets = secret.octets
        if octets.last == UInt8(ascii: "\n") { octets.removeLast() }
        if octets.last == UInt8(ascii: "\r") { octets.removeLast() }
        guard !octets.isEmpty, !octets.contains(UInt8(ascii: "\n")), !octets.contains(0),
            let text = String(validating: octets, as: UTF8.self)
        else { throw PostgreSQLError(.invalid, "\(path): this file must have one line: the password") }
        return text
    }
}

/// A connection to PostgreSQL, which only one thread may use. Every call waits for the server.
@safe final class PostgreSQLDatabase {
    private let handle: OpaquePointer
    /// The name of the database in messages.
    let name: String

    /// Parameters that the connection string can override. They make libpq detect a lost server within seconds.
    private static let defaults = [
        ("connect_timeout", "10"), ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ("tcp_user_timeout", "15000"), ("fallback_application_name", "pharos"),
    ]

    init(_ options: PostgreSQLOptions) throws(PostgreSQLError) {
        var words = Self.defaults + [("dbname", options.connection), ("client_encoding", "UTF8")]
        if let password = options.password { words.append(("password", password)) }
        let texts = unsafe words.map { unsafe (strdup($0.0), strdup($0.1)) }
        defer {
            unsafe texts.forEach { pair in
                unsafe free(pair.0)
                unsafe free(pair.1)
            }
        }
        let keys = unsafe texts.map { unsafe UnsafePointer($0.0) } + [nil]
        let values = unsafe texts.map { unsafe UnsafePointer($0.1) } + [nil]
        guard let handle = unsafe PQconnectdbParams(keys, values, 1) else {
            throw PostgreSQLError(.failed, "PostgreSQL: out of memory")
        }
        let database = unsafe PQdb(handle).map { unsafe String(cString: $0) } ?? ""
        let host = unsafe PQhost(handle).map { unsafe String(cString: $0) } ?? ""
        name = "PostgreSQL" + (database.isEmpty ? "" : " \(database)") + (host.isEmpty ? "" : " at \(host)")
        guard unsafe PQstatus(handle) == CONNECTION_OK else {
            let reason = PostgreSQLError.reason(unsafe String(cString: PQerrorMessage(handle)))
            // A ping without TLS shows whether a server answers at all. If it answers, it has refused this client or
            // does not support TLS.
            let mode = unsafe strdup("sslmode")
            let plain = unsafe strdup("disable")
            defer {
                unsafe free(mode)
                unsafe free(plain)
            }
            let ping = unsafe PQpingParams(
                keys.dropLast() + [UnsafePointer(mode), nil], values.dropLast() + [UnsafePointer(plain), nil], 1)
            let hasTooManyConnections = unsafe ping == PQPING_OK && Self.hasTooManyConnections(handle)
            unsafe PQfinish(handle)
            if hasTooManyConnections { throw PostgreSQLError(.unreachable, "\(name): the database is busy: \(reason)") }
            throw ping == PQPING_OK
                ? PostgreSQLError(.refused, "\(name): the database refuses the connection: \(reason)")
                : PostgreSQLError(.unreachable, "\(name): no database answers there: \(reason)")
        }
        unsafe self.handle = handle
        unsafe pharos_pg_silence(handle)
    }

    deinit { unsafe PQfinish(handle) }

    /// Returns true if the server has refused the connection because it has too many connections. Connects again to
    /// find out: only verbose messages contain the error code, and the text of a message may be in any language.
    private static func hasTooManyConnections(_ handle: OpaquePointer) -> Bool {
        unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        unsafe PQreset(handle)
        if unsafe PQstatus(handle) == CONNECTION_OK { return true }
        return unsafe String(cString: PQerrorMessage(handle)).contains(" 53300: ")
    }

    /// Runs `body` in a transaction: either all of its changes are made, or none.
    func transaction<Value>(_ body: () throws(PostgreSQLError) -> Value) throws(PostgreSQLError) -> Value {
        try execute("BEGIN")
        do throws(PostgreSQLError) {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// Runs a statement, and ignores its rows.
    func execute(_ statement: String) throws(PostgreSQLError) { try query(statement) { _ in } }

    /// Runs a statement, and calls `each` with each row as it arrives.
    ///
    /// - Parameter values: The values of the parameters $1, $2 …, as texts; `nil` for NULL.
    func query(
        _ statement: String, _ values: [String?] = [], _ each: ([String?]) -> Void
    ) throws(PostgreSQLError) {
        let texts = unsafe values.map { value in unsafe value.map { unsafe strdup($0) } ?? nil }
        defer { unsafe texts.forEach { unsafe free($0) } }
        let pointers = unsafe texts.map { text in unsafe text.map { unsafe UnsafePointer($0) } }
        guard
            unsafe PQsendQueryParams(handle, statement, Int32(values.count), nil, pointers, nil, nil, 0) == 1
        else { throw gone }
        unsafe PQsetSingleRowMode(handle)
        unsafe try results { result in
            let columns = unsafe PQnfields(result)
            for row in 0..<(unsafe PQntuples(result)) {
                each(
                    (0..<columns).map { column in
                        unsafe PQgetisnull(result, row, column) == 1
                            ? nil : String(cString: PQgetvalue(result, row, column))
                    })
            }
        }
    }

    /// Writes lines in the text format of PostgreSQL's COPY into a table.
    func copy(_ lines: [String], into table: String) throws(PostgreSQLError) {
        guard let result = unsafe PQexec(handle, "COPY \(table) FROM STDIN") else { throw gone }
        defer { unsafe PQclear(result) }
        guard unsafe PQresultStatus(result) == PGRES_COPY_IN else { throw unsafe failure(result) }
        for line in lines {
            let octets = Array(line.utf8)
            let count = unsafe octets.withUnsafeBufferPointer { buffer in
                unsafe buffer.withMemoryRebound(to: CChar.self) {
                    unsafe PQputCopyData(handle, $0.baseAddress, Int32($0.count))
                }
            }
            guard count == 1 else { throw gone }
        }
        guard unsafe PQputCopyEnd(handle, nil) == 1 else { throw gone }
        unsafe try results { _ in }
    }

    /// Reads all results of a command, even after an error. The next command would otherwise read the remaining
    /// results.
    private func results(_ each: (OpaquePointer) -> Void) throws(PostgreSQLError) {
        var error: PostgreSQLError?
        while let result = unsafe PQgetResult(handle) {
            defer { unsafe PQclear(result) }
            switch unsafe PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE: unsafe each(result)
            default: error = unsafe error ?? failure(result)
            }
            if unsafe PQstatus(handle) != CONNECTION_OK { break }
        }
        if let error { throw error }
        if unsafe PQstatus(handle) != CONNECTION_OK { throw gone }
    }

    /// The error for a lost connection.
    private var gone: PostgreSQLError {
        let reason = PostgreSQLError.reason(unsafe String(cString: PQerrorMessage(handle)))
        return PostgreSQLError(.unreachable, "\(name): the connection to the database is lost: \(reason)")
    }

    private func failure(_ result: OpaquePointer) -> PostgreSQLError {
        func field(_ code: Int32) -> String? {
            unsafe PQresultErrorField(result, code).map { unsafe String(cString: $0) }
        }
        guard unsafe PQstatus(handle) == CONNECTION_OK, let state = field(PHAROS_PG_SQLSTATE) else { return gone }
        let sentence = "\(name): \(field(PHAROS_PG_PRIMARY) ?? "error \(state)")"
        switch state.prefix(2) {
        // SQLSTATE classes 22, 23 and 54: data exceptions, violated constraints, and values that exceed a limit, for
        // example the limit of an index.
        case "22", "23", "54": return PostgreSQLError(.data, sentence)
        // SQLSTATE classes 57, 53 and 08: the server is shut down, lacks resources such as connections, or the
        // connection failed.
        case "57", "53", "08": return PostgreSQLError(.unreachable, sentence)
        case "42" where state == "42501": return PostgreSQLError(.refused, sentence)
        default: return PostgreSQLError(.failed, sentence)
        }
    }
}
