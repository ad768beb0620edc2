// PostgreSQL's own client library, with what of it Swift cannot say. It is loaded when it is first wanted.
#ifndef PHAROS_CPOSTGRESQL_H
#define PHAROS_CPOSTGRESQL_H

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

// Macros of characters, which are not imported.
static const int PHAROS_PG_SQLSTATE = PG_DIAG_SQLSTATE;
static const int PHAROS_PG_PRIMARY = PG_DIAG_MESSAGE_PRIMARY;

/// Loads the library, by any thread and as often as one likes. Until it has succeeded no other function may be called.
///
/// Returns NULL, or why the library cannot be loaded.
const char *pharos_pg_load(void);

static inline void pharos_pg_say_nothing(void *context, const char *text) {
    (void)context;
    (void)text;
}

// The server's notices would go to standard error.
static inline void pharos_pg_silence(PGconn *connection) {
    PQsetNoticeProcessor(connection, pharos_pg_say_nothing, NULL);
}

#endif
