// dtype.c -- names and sizes of element types and precisions. handle.c applies them to tensors.
#include <string.h>

#include "tensor/given.h"
#include "tensor/op.h"

const uint8_t dtype_sizes[DTYPE_COUNT] = {
#define DTYPE_SIZE(name, text, size) size,
    DTYPE_LIST(DTYPE_SIZE)
#undef DTYPE_SIZE
};
static const char *const dtype_names[DTYPE_COUNT] = {
#define DTYPE_NAME(name, text, size) text,
    DTYPE_LIST(DTYPE_NAME)
#undef DTYPE_NAME
};

const char *dtype_name(DType dtype) {
    return (unsigned)dtype < DTYPE_COUNT ? dtype_names[dtype] : "?";
}
int64_t dtype_size(DType dtype) { return (unsigned)dtype < DTYPE_COUNT ? dtype_sizes[dtype] : 0; }

static const struct {
    const char *name, *brief;
    int64_t bytes;
} precisions[PRECISION_COUNT] = {
#define PRECISION_ROW(name, text, brief, size) {text, brief, size},
    PRECISION_LIST(PRECISION_ROW)
#undef PRECISION_ROW
};

const char *precision_name(Precision precision) {
    return (unsigned)precision < PRECISION_COUNT ? precisions[precision].name : "?";
}

const char *precision_brief(Precision precision) {
    return (unsigned)precision < PRECISION_COUNT ? precisions[precision].brief : "?";
}

int64_t precision_bytes(Precision precision) {
    return (unsigned)precision < PRECISION_COUNT ? precisions[precision].bytes : 0;
}
