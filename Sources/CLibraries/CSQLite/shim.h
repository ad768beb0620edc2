#ifndef PHAROS_CSQLITE_H
#define PHAROS_CSQLITE_H

#include <sqlite3.h>

/* Binds a copy of the text (SQLITE_TRANSIENT, a cast that Swift does not import). */
static inline int pharos_bind_text(sqlite3_stmt *statement, int place, const char *text, int length) {
    return sqlite3_bind_text(statement, place, text, length, SQLITE_TRANSIENT);
}

#endif
