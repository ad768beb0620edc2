// A program that is linked to libpq loads it and the libraries that it needs, such as GnuTLS, Kerberos and LDAP. They
// take 5 MiB of memory in every process. A listener usually does not need them, so this file loads libpq when
// PostgreSQL is used for the first time.
#include "CPostgreSQL.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

// The functions of libpq that Pharos uses, each with its result, name, parameters and arguments. The compiler checks
// that they match the prototypes in the header.
#define FUNCTIONS(F)                                                                                                   \
    F(PGconn *, PQconnectdbParams, (const char *const *keys, const char *const *values, int expand),                   \
      (keys, values, expand))                                                                                          \
    F(PGPing, PQpingParams, (const char *const *keys, const char *const *values, int expand), (keys, values, expand))  \
    F(PQconninfoOption *, PQconninfoParse, (const char *text, char **message), (text, message))                        \
    F(void, PQconninfoFree, (PQconninfoOption *options), (options))                                                    \
    F(void, PQfreemem, (void *memory), (memory))                                                                       \
    F(void, PQfinish, (PGconn *connection), (connection))                                                              \
    F(void, PQreset, (PGconn *connection), (connection))                                                               \
    F(char *, PQdb, (const PGconn *connection), (connection))                                                          \
    F(char *, PQhost, (const PGconn *connection), (connection))                                                        \
    F(ConnStatusType, PQstatus, (const PGconn *connection), (connection))                                              \
    F(char *, PQerrorMessage, (const PGconn *connection), (connection))                                                \
    F(PGVerbosity, PQsetErrorVerbosity, (PGconn *connection, PGVerbosity verbosity), (connection, verbosity))          \
    F(PQnoticeProcessor, PQsetNoticeProcessor, (PGconn *connection, PQnoticeProcessor processor, void *context),       \
      (connection, processor, context))                                                                                \
    F(PGresult *, PQexec, (PGconn *connection, const char *query), (connection, query))                                \
    F(int, PQsendQueryParams,                                                                                          \
      (PGconn *connection, const char *command, int count, const Oid *types, const char *const *values,                \
       const int *lengths, const int *formats, int format),                                                            \
      (connection, command, count, types, values, lengths, formats, format))                                           \
    F(int, PQsetSingleRowMode, (PGconn *connection), (connection))                                                     \
    F(PGresult *, PQgetResult, (PGconn *connection), (connection))                                                     \
    F(int, PQputCopyData, (PGconn *connection, const char *octets, int count), (connection, octets, count))            \
    F(int, PQputCopyEnd, (PGconn *connection, const char *message), (connection, message))                             \
    F(ExecStatusType, PQresultStatus, (const PGresult *result), (result))                                              \
    F(char *, PQresultErrorField, (const PGresult *result, int code), (result, code))                                  \
    F(int, PQntuples, (const PGresult *result), (result))                                                              \
    F(int, PQnfields, (const PGresult *result), (result))                                                              \
    F(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column))                          \
    F(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column))                        \
    F(void, PQclear, (PGresult *result), (result))

#define POINTER(result, name, parameters, arguments) static result(*library_##name) parameters;
FUNCTIONS(POINTER)

// The wrappers have the names of libpq's functions. They are hidden, so that libpq itself never calls them.
#define WRAPPER(result, name, parameters, arguments)                                                                   \
    __attribute__((visibility("hidden"))) result name parameters { return library_##name arguments; }
FUNCTIONS(WRAPPER)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[512];

static void load(void) {
    // 5 is the version of the binary interface that the header describes.
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(failure, sizeof failure, "%s", dlerror());
        return;
    }
#define FOUND(result, name, parameters, arguments)                                                                     \
    if ((library_##name = (result(*) parameters)dlsym(library, #name)) == NULL)                                        \
        snprintf(failure, sizeof failure, "libpq.so.5 has no function %s", #name);
    FUNCTIONS(FOUND)
}

const char *pharos_pg_load(void) {
    pthread_once(&once, load);
    return failure[0] == '\0' ? NULL : failure;
}
