internal import Glibc

/// The processors that this process may use.
public enum Processors {
    /// At least 1.
    public static var count: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
