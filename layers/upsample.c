// upsample.c -- resizing images, and moving channels to pixels or back, as layers
#include <math.h>

#include "layers/layers2d.h"

typedef struct Upsample {
    Layer layer;
    ResizeOptions options;
    float scale_h, scale_w; // as floats, for the attributes
    bool align_corners;
} Upsample;

static const LayerAttribute attributes[] = {
    {"out_h", ATTRIBUTE_INTEGER, offsetof(Upsample, options.out_h)},
    {"out_w", ATTRIBUTE_INTEGER, offsetof(Upsample, options.out_w)},
    {"scale_h", ATTRIBUTE_REAL, offsetof(Upsample, scale_h)},
    {"scale_w", ATTRIBUTE_REAL, offsetof(Upsample, scale_w)},
    {"align_corners", ATTRIBUTE_FLAG, offsetof(Upsample, align_corners)},
};

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_resize(in[0], ((Upsample *)self)->options);
}

// Prints a float as Python does: "2.0", "1.5".
static void print_real(FILE *file, double value) {
    bool whole = value == floor(value) && value < 1e16;
    fprintf(file, whole ? "%.1f" : "%.12g", value);
}

static void print(const Layer *self, FILE *file) {
    const ResizeOptions *o = &((const Upsample *)self)->options;
    const char *nearest = o->coordinates == RESIZE_ASYMMETRIC ? "nearest" : "nearest-exact";
    const char *const modes[] = {nearest, "bilinear", "bicubic"};
    if (o->out_h) {
        fprintf(file, "size=(%lld, %lld)", (long long)o->out_h, (long long)o->out_w);
    } else if (o->scale_h == o->scale_w) {
        fputs("scale_factor=", file);
        print_real(file, o->scale_h);
    } else {
        fputs("scale_factor=(", file);
        print_real(file, o->scale_h);
        fputs(", ", file);
        print_real(file, o->scale_w);
        fputc(')', file);
    }
    fprintf(file, ", mode='%s'", modes[o->mode]);
}

static const LayerType upsample_type = {.name = "Upsample",
                                        .size = sizeof(Upsample),
                                        .attributes = attributes,
                                        .n_attributes = sizeof(attributes) / sizeof(attributes[0]),
                                        .forward = forward,
                                        .print = print};

Layer *upsample_new(ResizeOptions options) {
    bool sized = options.out_h > 0 && options.out_w > 0;
    bool scaled = options.out_h == 0 && options.out_w == 0 && options.scale_h > 0.0 &&
                  options.scale_w > 0.0 && options.scale_h < 1e9 && options.scale_w < 1e9;
    if ((!sized && !scaled) || (unsigned)options.mode > RESIZE_CUBIC) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "Upsample: size %lld x %lld, scale %g x %g, mode %d. HINT: a size or a scale, "
                  "and a ResizeMode",
                  (long long)options.out_h, (long long)options.out_w, options.scale_h,
                  options.scale_w, (int)options.mode);
        return NULL;
    }
    Upsample *self = (Upsample *)layer_new(&upsample_type);
    if (!self) return NULL;
    self->options = options;
    self->scale_h = (float)options.scale_h;
    self->scale_w = (float)options.scale_w;
    self->align_corners = options.coordinates == RESIZE_ALIGN_CORNERS;
    return &self->layer;
}

// ---- channels to pixels ------------------------------------------------------------------------
typedef struct Shuffle {
    Layer layer;
    int64_t factor;
} Shuffle;

static const LayerAttribute up[] = {
    {"upscale_factor", ATTRIBUTE_INTEGER, offsetof(Shuffle, factor)}};
static const LayerAttribute down[] = {
    {"downscale_factor", ATTRIBUTE_INTEGER, offsetof(Shuffle, factor)}};

static Tensor *shuffle(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_pixel_shuffle(in[0], ((Shuffle *)self)->factor);
}

static Tensor *unshuffle(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_pixel_unshuffle(in[0], ((Shuffle *)self)->factor);
}

static const LayerType shuffle_type = {.name = "PixelShuffle",
                                       .size = sizeof(Shuffle),
                                       .attributes = up,
                                       .n_attributes = 1,
                                       .forward = shuffle};
static const LayerType unshuffle_type = {.name = "PixelUnshuffle",
                                         .size = sizeof(Shuffle),
                                         .attributes = down,
                                         .n_attributes = 1,
                                         .forward = unshuffle};

static Layer *shuffle_new(const LayerType *type, int64_t factor) {
    if (factor < 1) {
        error_set(STATUS_INVALID_ARGUMENT, "%s: a factor of %lld. HINT: at least 1", type->name,
                  (long long)factor);
        return NULL;
    }
    Shuffle *self = (Shuffle *)layer_new(type);
    if (!self) return NULL;
    self->factor = factor;
    return &self->layer;
}

Layer *pixel_shuffle_new(int64_t factor) { return shuffle_new(&shuffle_type, factor); }
Layer *pixel_unshuffle_new(int64_t factor) { return shuffle_new(&unshuffle_type, factor); }
