// The entry points of a loadable backend; see loadable.h.

#include "loadable.h"

extern "C" {

ggml_backend_reg_t FRESCO_BACKEND_REG(void);

FRESCO_LOADABLE_API const char * fresco_loadable_version(void) {
    return ggml_version();
}

FRESCO_LOADABLE_API ggml_backend_reg_t fresco_loadable_start(ggml_log_callback log, ggml_abort_callback_t abort) {
    ggml_log_set(log, nullptr);
    ggml_set_abort_callback(abort);
    return FRESCO_BACKEND_REG();
}
}
