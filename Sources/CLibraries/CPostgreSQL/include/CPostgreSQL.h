// PostgreSQL's client library, libpq, which pharos_pg_load loads, and declarations for macros that Swift cannot import.
#ifndef PHAROS_CPOSTGRESQL_H
#define PHAROS_CPOSTGRESQL_H

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

// Constants for macros whose values are characters, which Swift does not import.
static const int PHAROS_PG_SQLSTATE = PG_DIAG_SQLSTATE;
static const int PHAROS_PG_PRIMARY = PG_DIAG_MESSAGE_PRIMARY;

/// Loads the library. Any thread may call this function, any number of times. Call no other function until it has
/// succeeded.
///
/// Returns NULL, or the reason why the library cannot be loaded.
const char *pharos_pg_load(void);

static inline void pharos_pg_say_nothing(void *context, const char *text) {
    (void)context;
    (void)text;
}

// Discards the server's notices, which would otherwise go to standard error.
static inline void pharos_pg_silence(PGconn *connection) {
    PQsetNoticeProcessor(connection, pharos_pg_say_nothing, NULL);
}

#endif
