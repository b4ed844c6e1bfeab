// svg.h -- drawings as SVG, inline in a page or files of their own: shapes, texts, axes. The page's
// style sets the colour of each class, light and dark. Not here: what is drawn (chart.h).
//
//     Svg svg = svg_begin(file, SVG_PICTURE, "memory", "Memory over the step", 720, 300);
//     SvgAxis x = {.from = 0, .to = 10, .at = 60, .until = 700};
//     svg_rect(&svg, svg_at(&x, 2), 20, svg_at(&x, 3), 40, "forward", "fc1: 3 us");
//     svg_end(&svg);
#ifndef PROFILER_LOOK_SVG_H
#define PROFILER_LOOK_SVG_H

#include <stdbool.h>

#include "layers/files/whole_file.h"

typedef struct Svg {
    WholeFile *file; // borrowed
    double width, height;
} Svg;

typedef enum SvgKind {
    SVG_PICTURE, // in a page; a screen reader reads only its title
    SVG_LINKS,   // in a page, with dots that link to rows
    SVG_FILE,    // a file of its own; call svg_style next
} SvgKind;

// `id` is unique in the page. Each shape may have a title of its own, which is shown on hover.
// Sizes are in units of the drawing, which scales with the page.
Svg svg_begin(WholeFile *file, SvgKind kind, const char *id, const char *title, double width,
              double height);
void svg_style(const Svg *svg, const char *css);
void svg_end(const Svg *svg);

// A rectangle between two opposite corners, in any order. title NULL: none
void svg_rect(const Svg *svg, double x1, double y1, double x2, double y2, const char *class,
              const char *title);
void svg_line(const Svg *svg, double x1, double y1, double x2, double y2, const char *class);
// A dot that links to `link` ("#fc1") and is reachable by keyboard; NULL: no link.
void svg_dot(const Svg *svg, double x, double y, double radius, const char *class, const char *link,
             const char *title);
void svg_text(const Svg *svg, double x, double y, const char *class, const char *text);

// A line, or the border of an area, point by point.
void svg_path_begin(const Svg *svg, const char *class);
void svg_path_point(const Svg *svg, double x, double y, bool first);
void svg_path_end(const Svg *svg, const char *title);

typedef struct SvgAxis {
    double from, to;  // range of the values
    double at, until; // range in the drawing
    bool logarithmic;
} SvgAxis;
double svg_at(const SvgAxis *axis, double value); // clamped to the axis
// Fills the values to mark, at most `most`: powers of ten on a logarithmic axis, else 1, 2 or 5
// times a power of ten. Returns their number.
int svg_marks(const SvgAxis *axis, int most, double marks[]);

#endif
