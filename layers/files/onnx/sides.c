// sides.c -- the movement of windows over an image or a sequence, by the attributes that
// convolutions and pools share.
#include "layers/files/onnx/import.h"

// Bounds a number so that no sum or product of several overflows.
static bool is_sane(int64_t number, int64_t least) {
    return number >= least && number <= INT32_MAX;
}

static Status check(const Import *import, Shape in, int dims, const Sides *sides) {
    bool sane = true;
    for (int i = 2 - dims; i < 2; i++)
        sane = sane && is_sane(sides->kernel[i], 1) && is_sane(sides->stride[i], 1) &&
               is_sane(sides->dilation[i], 1) && is_sane(sides->before[i], -INT32_MAX) &&
               is_sane(sides->after[i], -INT32_MAX) && is_sane(in.dims[in.ndim - 2 + i], 0);
    if (sane) return STATUS_OK;
    return import_error(import, STATUS_FORMAT,
                        "a window, stride, dilation or image of a size that "
                        "none can have");
}

Status sides_read(Import *import, const Node *node, Shape in, const int64_t kernel[],
                  Sides *sides) {
    int64_t pads[4] = {0}, strides[2] = {1, 1}, dilations[2] = {1, 1};
    int dims = in.ndim - 2, first = 2 - dims, n = attribute_ints(node, "pads", pads, 4);
    int n_strides = attribute_ints(node, "strides", strides, 2);
    int n_dilations = attribute_ints(node, "dilations", dilations, 2);
    if ((n >= 0 && n != 2 * dims) || (n_strides >= 0 && n_strides != dims) ||
        (n_dilations >= 0 && n_dilations != dims))
        return import_error(import, STATUS_FORMAT,
                            "its pads, strides or dilations are not of %d dimensions", dims);
    *sides = (Sides){.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    for (int i = 0; i < dims; i++) {
        sides->kernel[first + i] = kernel[i];
        sides->stride[first + i] = strides[i];
        sides->dilation[first + i] = dilations[i];
        sides->before[first + i] = pads[i];
        sides->after[first + i] = pads[dims + i];
    }
    if (attribute_is(node, "auto_pad", "VALID", false))
        for (int i = 0; i < 2; i++) sides->before[i] = sides->after[i] = 0;
    return check(import, in, dims, sides);
}

void sides_same(const Node *node, Shape in, int dims, Sides *sides) {
    bool lower = attribute_is(node, "auto_pad", "SAME_LOWER", false);
    if (!lower && !attribute_is(node, "auto_pad", "SAME_UPPER", false)) return;
    for (int i = 2 - dims; i < 2; i++) {
        int64_t size = in.dims[in.ndim - 2 + i], out = (size - 1) / sides->stride[i] + 1;
        int64_t held = (sides->kernel[i] - 1) * sides->dilation[i] + 1;
        int64_t pad = (out - 1) * sides->stride[i] + held - size;
        pad = pad > 0 ? pad : 0;
        sides->before[i] = lower ? pad - pad / 2 : pad / 2;
        sides->after[i] = pad - sides->before[i];
    }
}
