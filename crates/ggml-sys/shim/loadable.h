// What a loadable backend and its host agree on: the two symbols that the library exports.
//
// The library holds a copy of ggml's base library of its own, so that a host which links ggml in statically can load it
// from anywhere, without exporting a symbol or finding a shared ggml at run time. Backends meet through tables of
// functions and through structures, which the equal version makes equal; of what each copy keeps for itself, only the
// two callbacks below would be missed.

#pragma once

#include "ggml-backend.h"

#ifdef _WIN32
#    define FRESCO_LOADABLE_API __declspec(dllexport)
#else
#    define FRESCO_LOADABLE_API __attribute__((visibility("default")))
#endif

// The version of ggml that the library was built from; a host of any other version must not call the second function.
#define FRESCO_LOADABLE_VERSION "fresco_loadable_version"
typedef const char * (*fresco_loadable_version_t)(void);

// Routes what the library logs, and its failed assertions, to the host, and returns the backend. Null where the backend
// cannot run on this machine.
#define FRESCO_LOADABLE_START "fresco_loadable_start"
typedef ggml_backend_reg_t (*fresco_loadable_start_t)(ggml_log_callback log, ggml_abort_callback_t abort);
