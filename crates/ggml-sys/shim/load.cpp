// Loads backends at run time; compiled with the feature `dynamic-backends` alone. See shim.h and loadable.h.

#include "loadable.h"
#include "shim.h"

#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>

// Needs the standard headers above and does not include them.
#include "ggml-backend-dl.h"

namespace {

// Both go through this copy of ggml, so that a callback which the host sets later is used as well.
void forward_log(ggml_log_level level, const char * text, void *) {
    ggml_log_callback callback;
    void * user_data;
    ggml_log_get(&callback, &user_data);
    callback(level, text, user_data);
}

void forward_abort(const char * text) {
    ggml_abort("in a loaded backend", 0, "%s", text);
}

// Returns why it failed, or null.
const char * load(const char * path, ggml_backend_reg_t * reg) {
    // Never closed: a backend cannot tell when nothing of it is in use any more.
    dl_handle * library = dl_load_library(fs::u8path(path));
    if (library == nullptr) {
        return dl_error();
    }
    const auto version = reinterpret_cast<fresco_loadable_version_t>(dl_get_sym(library, FRESCO_LOADABLE_VERSION));
    const auto start = reinterpret_cast<fresco_loadable_start_t>(dl_get_sym(library, FRESCO_LOADABLE_START));
    if (version == nullptr || start == nullptr) {
        return "it is not a backend that `cargo xtask backend` built";
    }
    if (std::strcmp(version(), ggml_version()) != 0) {
        return "it was built from another version of ggml";
    }
    *reg = start(forward_log, forward_abort);
    if (*reg == nullptr) {
        return "its backend does not run on this machine";
    }
    ggml_backend_register(*reg);
    return nullptr;
}

} // namespace

fresco_status fresco_backend_load(const char * path, ggml_backend_reg_t * reg, fresco_message * message) {
    try {
        const char * failure = load(path, reg);
        if (failure == nullptr) {
            return FRESCO_OK;
        }
        std::snprintf(message->text, sizeof(message->text), "%s", failure);
        return FRESCO_FAILED;
    } catch (const std::exception & exception) {
        std::snprintf(message->text, sizeof(message->text), "%s", exception.what());
        return FRESCO_THROWN;
    }
}
