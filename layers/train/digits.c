// digits.c -- draws handwritten-looking digits: strokes under a random affine change, with random
// pen, contrast and noise. Not MNIST, but about as hard.
#include "layers/train/digits.h"

#include <math.h>
#include <stdio.h>

#include "tensor/given.h"
#include "tensor/memory.h"

enum {
    SIDE = DIGITS_SIDE,
    PIXELS = SIDE * SIDE,
    CLASSES = 10,
    MAX_STROKES = 2,
    MAX_POINTS = 15,
    CURVE_STEPS = 4,             // straight pieces between two points of a curve
    COUNTERS_PER_IMAGE = 1 << 12 // more random numbers than one image draws
};

// ---- the shapes of digits ----------------------------------------------------------------------

// A curve passes smoothly through its points (Catmull and Rom 1974), a line bends at them.
typedef enum StrokeKind { LINE, CURVE } StrokeKind;

typedef struct Stroke {
    StrokeKind kind;
    int count;
    int8_t points[MAX_POINTS][2]; // pixels from the image's centre: x to the right, y down
} Stroke;

typedef struct Glyph {
    int digit;
    Stroke strokes[MAX_STROKES]; // the last has no points
} Glyph;

// clang-format off
static const Glyph glyphs[] = {
    {0, {{CURVE, 9, {{0, -10}, {4, -8}, {6, 0}, {4, 8}, {0, 10}, {-4, 8}, {-6, 0}, {-4, -8},
                     {0, -10}}}}},
    {0, {{CURVE, 9, {{2, -10}, {5, -6}, {5, 1}, {2, 8}, {-2, 10}, {-5, 6}, {-5, -1}, {-2, -8},
                     {3, -9}}}}},
    {1, {{LINE, 2, {{0, -10}, {0, 10}}}}},
    {1, {{LINE, 3, {{-4, -6}, {0, -10}, {0, 10}}}}},
    {1, {{LINE, 3, {{-4, -6}, {0, -10}, {0, 10}}},
         {LINE, 2, {{-4, 10}, {4, 10}}}}},
    {2, {{CURVE, 8, {{-6, -6}, {-3, -9}, {1, -10}, {5, -8}, {6, -4}, {3, 1}, {-2, 6}, {-6, 10}}},
         {LINE, 2, {{-6, 10}, {6, 10}}}}},
    {2, {{CURVE, 10, {{-6, -6}, {-2, -10}, {4, -9}, {5, -4}, {2, 3}, {-3, 9}, {-6, 8}, {-4, 6},
                      {0, 8}, {6, 9}}}}},
    {3, {{CURVE, 6, {{-6, -7}, {-2, -10}, {3, -9}, {5, -6}, {3, -2}, {-2, -1}}},
         {CURVE, 7, {{-2, -1}, {4, 0}, {6, 4}, {4, 8}, {0, 10}, {-4, 9}, {-6, 7}}}}},
    {3, {{LINE, 3, {{-5, -10}, {5, -10}, {-1, -2}}},
         {CURVE, 7, {{-1, -2}, {4, -1}, {6, 3}, {4, 8}, {0, 10}, {-4, 9}, {-6, 7}}}}},
    {4, {{LINE, 4, {{3, 10}, {3, -10}, {-7, 4}, {7, 4}}}}},
    {4, {{CURVE, 5, {{-5, -9}, {-6, -3}, {-4, 1}, {0, 1}, {5, -1}}},
         {LINE, 2, {{5, -9}, {4, 10}}}}},
    {5, {{LINE, 3, {{6, -10}, {-4, -10}, {-5, -2}}},
         {CURVE, 7, {{-5, -2}, {-1, -4}, {4, -2}, {6, 3}, {4, 8}, {0, 10}, {-6, 8}}}}},
    {5, {{CURVE, 10, {{6, -9}, {0, -10}, {-4, -8}, {-4, -4}, {1, -1}, {5, 2}, {5, 7}, {1, 10},
                      {-4, 9}, {-6, 7}}}}},
    {6, {{CURVE, 11, {{4, -10}, {-1, -7}, {-5, -1}, {-6, 5}, {-3, 9}, {2, 10}, {5, 7}, {5, 3},
                      {2, 1}, {-3, 2}, {-6, 6}}}}},
    {6, {{CURVE, 10, {{-1, -10}, {-4, -4}, {-5, 3}, {-4, 8}, {0, 10}, {4, 8}, {4, 4}, {1, 3},
                      {-3, 5}, {-4, 8}}}}},
    {7, {{LINE, 3, {{-6, -10}, {6, -10}, {-1, 10}}}}},
    {7, {{LINE, 3, {{-6, -10}, {6, -10}, {-2, 10}}},
         {LINE, 2, {{-3, 0}, {5, 0}}}}},
    {7, {{CURVE, 7, {{-6, -7}, {-5, -9}, {0, -9}, {5, -10}, {4, -6}, {1, 1}, {-1, 10}}}}},
    {8, {{CURVE, 15, {{4, -8}, {0, -10}, {-4, -8}, {-4, -4}, {0, -1}, {4, 2}, {6, 6}, {4, 9},
                      {0, 10}, {-4, 9}, {-6, 6}, {-4, 2}, {0, -1}, {4, -4}, {4, -8}}}}},
    {8, {{CURVE, 9, {{0, -10}, {3, -9}, {4, -6}, {3, -3}, {0, -2}, {-3, -3}, {-4, -6}, {-3, -9},
                     {0, -10}}},
         {CURVE, 9, {{0, -2}, {4, 0}, {5, 4}, {4, 8}, {0, 10}, {-4, 8}, {-5, 4}, {-4, 0},
                     {0, -2}}}}},
    {9, {{CURVE, 9, {{5, -5}, {3, -9}, {-1, -10}, {-5, -8}, {-6, -4}, {-4, -1}, {0, 0}, {4, -2},
                     {5, -7}}},
         {LINE, 2, {{5, -7}, {4, 10}}}}},
    {9, {{CURVE, 13, {{5, -6}, {2, -10}, {-3, -9}, {-5, -5}, {-3, -1}, {1, -1}, {4, -3}, {5, -7},
                      {6, -2}, {5, 4}, {3, 8}, {0, 10}, {-4, 9}}}}},
};
// clang-format on

enum { GLYPH_COUNT = sizeof(glyphs) / sizeof(glyphs[0]) };

// ---- drawing one image -------------------------------------------------------------------------

typedef struct Point {
    float x, y;
} Point;

// The settings for drawing one image.
typedef struct Style {
    float xx, xy, yx, yy; // glyph to image: x' = xx x + xy y + shift.x
    Point shift;
    float jitter;   // pixels by which each point moves
    float radius;   // of the pen
    float softness; // pixels over which a stroke's edge fades
    float ink, paper, grain;
} Style;

// Squared distance of every pixel to the nearest stroke, before it becomes ink.
typedef struct Canvas {
    float distance[PIXELS];
    float reach; // maximum distance at which a stroke leaves ink
} Canvas;

static float uniform(RandomState *random, float low, float high) {
    return low + (high - low) * random_next_uniform(random);
}

static Style choose_style(RandomState *random) {
    float turn = uniform(random, -0.21f, 0.21f); // 12 degrees
    float slant = uniform(random, -0.35f, 0.25f);
    float width = uniform(random, 0.7f, 1.1f), height = uniform(random, 0.8f, 1.05f);
    float c = cosf(turn), s = sinf(turn);
    Style style = {.xx = c * width,
                   .xy = (c * slant - s) * height,
                   .yx = s * width,
                   .yy = (s * slant + c) * height};
    const float centre = (SIDE - 1) / 2.0f;
    style.shift.x = centre + uniform(random, -2.0f, 2.0f);
    style.shift.y = centre + uniform(random, -1.8f, 1.8f);
    style.jitter = uniform(random, 0.4f, 1.5f);
    style.radius = uniform(random, 0.7f, 1.9f);
    style.softness = uniform(random, 0.8f, 2.0f);
    style.ink = uniform(random, 160.0f, 255.0f);
    style.paper = uniform(random, 0.0f, 20.0f);
    style.grain = uniform(random, 3.0f, 16.0f);
    return style;
}

static float least(float a, float b) { return a < b ? a : b; }
static float most(float a, float b) { return a > b ? a : b; }

static int pixel_at(float coordinate) { // the image's nearest row or column
    return (int)least(most(coordinate, 0.0f), SIDE - 1);
}

static void draw_line(Canvas *canvas, Point a, Point b) {
    float dx = b.x - a.x, dy = b.y - a.y;
    float squared = dx * dx + dy * dy;
    float inverse = squared > 0.0f ? 1.0f / squared : 0.0f; // a dot is a line, too
    int left = pixel_at(least(a.x, b.x) - canvas->reach);
    int right = pixel_at(most(a.x, b.x) + canvas->reach + 1.0f);
    int top = pixel_at(least(a.y, b.y) - canvas->reach);
    int bottom = pixel_at(most(a.y, b.y) + canvas->reach + 1.0f);
    for (int y = top; y <= bottom; y++) {
        for (int x = left; x <= right; x++) {
            float px = (float)x - a.x, py = (float)y - a.y;
            float along = least(most((px * dx + py * dy) * inverse, 0.0f), 1.0f);
            float ex = px - along * dx, ey = py - along * dy;
            float *nearest = &canvas->distance[y * SIDE + x];
            *nearest = least(*nearest, ex * ex + ey * ey);
        }
    }
}

static float between(float before, float from, float to, float after, float t) {
    return from + 0.5f * t *
                      (to - before +
                       t * (2.0f * before - 5.0f * from + 4.0f * to - after +
                            t * (3.0f * (from - to) + after - before)));
}

static void draw_curve(Canvas *canvas, const Point *points, int count) {
    for (int i = 0; i + 1 < count; i++) {
        Point before = points[i > 0 ? i - 1 : 0], from = points[i], to = points[i + 1];
        Point after = points[i + 2 < count ? i + 2 : count - 1];
        Point last = from;
        for (int step = 1; step <= CURVE_STEPS; step++) {
            float t = (float)step / CURVE_STEPS;
            Point now = {between(before.x, from.x, to.x, after.x, t),
                         between(before.y, from.y, to.y, after.y, t)};
            draw_line(canvas, last, now);
            last = now;
        }
    }
}

static void draw_stroke(Canvas *canvas, const Stroke *stroke, const Style *style,
                        RandomState *random) {
    Point points[MAX_POINTS];
    for (int i = 0; i < stroke->count; i++) {
        float x = (float)stroke->points[i][0] + uniform(random, -style->jitter, style->jitter);
        float y = (float)stroke->points[i][1] + uniform(random, -style->jitter, style->jitter);
        points[i].x = style->xx * x + style->xy * y + style->shift.x;
        points[i].y = style->yx * x + style->yy * y + style->shift.y;
    }
    if (stroke->kind == CURVE) {
        draw_curve(canvas, points, stroke->count);
    } else {
        for (int i = 0; i + 1 < stroke->count; i++) draw_line(canvas, points[i], points[i + 1]);
    }
}

// Draws short stray marks, which belong to no digit.
static void draw_specks(Canvas *canvas, RandomState *random) {
    int64_t specks = random_next_below(random, 3);
    for (int64_t i = 0; i < specks; i++) {
        Point a = {uniform(random, 0.0f, SIDE - 1), uniform(random, 0.0f, SIDE - 1)};
        Point b = {a.x + uniform(random, -2.0f, 2.0f), a.y + uniform(random, -2.0f, 2.0f)};
        draw_line(canvas, a, b);
    }
}

// Converts distances to ink and pixels, with grain: the sum of four random bytes is nearly normal.
static void develop(const Canvas *canvas, const Style *style, RandomState *random, uint8_t *image) {
    uint32_t bits[PIXELS];
    random_bits(random->seed, random_reserve(random, PIXELS), 0, PIXELS, bits);
    const float grain = style->grain / 148.0f; // the sum's standard deviation
    const float fade = 1.0f / style->softness;
    for (int i = 0; i < PIXELS; i++) {
        float cover = 0.5f + (style->radius - sqrtf(canvas->distance[i])) * fade;
        cover = least(most(cover, 0.0f), 1.0f);
        uint32_t b = bits[i];
        int sum = (int)((b & 255) + (b >> 8 & 255) + (b >> 16 & 255) + (b >> 24)) - 510;
        float value = style->paper + (style->ink - style->paper) * cover + grain * (float)sum;
        image[i] = (uint8_t)least(most(value, 0.0f), 255.0f);
    }
}

static const Glyph *choose_glyph(int digit, RandomState *random) {
    const Glyph *variants[GLYPH_COUNT];
    int64_t count = 0;
    for (int i = 0; i < GLYPH_COUNT; i++) {
        if (glyphs[i].digit == digit) variants[count++] = &glyphs[i];
    }
    return variants[random_next_below(random, count)];
}

static void draw_digit(int digit, RandomState *random, uint8_t *image) {
    const Glyph *glyph = choose_glyph(digit, random);
    Style style = choose_style(random);
    Canvas canvas = {.reach = style.radius + 0.5f * style.softness};
    for (int i = 0; i < PIXELS; i++) canvas.distance[i] = SIDE * SIDE;
    for (int i = 0; i < MAX_STROKES && glyph->strokes[i].count > 0; i++) {
        draw_stroke(&canvas, &glyph->strokes[i], &style, random);
    }
    draw_specks(&canvas, random);
    develop(&canvas, &style, random, image);
}

// Image i depends on the seed and i alone; each ten images hold every digit once.
static void draw_all(uint64_t seed, Dataset *dataset) {
    int64_t order[CLASSES];
    for (int64_t i = 0; i < dataset->count; i++) {
        uint64_t counters = (uint64_t)i * COUNTERS_PER_IMAGE;
        RandomState random = {.seed = seed, .offset = counters};
        if (i % CLASSES == 0) {
            for (int k = 0; k < CLASSES; k++) order[k] = k;
            random_shuffle(&random, order, CLASSES);
        }
        dataset->labels[i] = (uint8_t)order[i % CLASSES];
        draw_digit(dataset->labels[i], &random, dataset->images + i * PIXELS);
    }
}

Status digits_generate(int64_t count, uint64_t seed, Dataset *out) {
    if (!GIVEN(out)) return STATUS_INVALID_ARGUMENT;
    *out = (Dataset){0};
    if (count < 1 || count > INT64_MAX / PIXELS) {
        return error_set(STATUS_INVALID_ARGUMENT,
                         "digits: cannot draw %lld images. HINT: at least 1, and as many as fit "
                         "in memory, %d bytes each",
                         (long long)count, PIXELS);
    }
    Dataset drawn = {.count = count,
                     .rows = SIDE,
                     .columns = SIDE,
                     .classes = CLASSES,
                     .name = "generated digits"};
    drawn.images = memory_new((size_t)count * PIXELS);
    drawn.labels = memory_new((size_t)count);
    if (!drawn.images || !drawn.labels) {
        dataset_free(&drawn);
        return STATUS_OUT_OF_MEMORY;
    }
    draw_all(seed, &drawn);
    *out = drawn;
    return STATUS_OK;
}
