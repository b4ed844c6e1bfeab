// svg.c -- the elements of SVG that charts are made of.
#include "profiler/look/svg.h"

#include <math.h>

#include "profiler/base/escape.h"

Svg svg_begin(WholeFile *file, SvgKind kind, const char *id, const char *title, double width,
              double height) {
    whole_file_print(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\"",
                     width, height);
    if (kind == SVG_PICTURE)
        whole_file_print(file, " role=\"img\" aria-labelledby=\"%s-title\"", id);
    whole_file_print(file, ">\n<title id=\"%s-title\">", id);
    escape_xml(file, title);
    whole_file_print(file, "</title>\n");
    return (Svg){file, width, height};
}

void svg_style(const Svg *svg, const char *css) {
    whole_file_print(svg->file, "<style>\n%s</style>\n", css);
}

void svg_end(const Svg *svg) { whole_file_print(svg->file, "</svg>\n"); }

static void put_title(const Svg *svg, const char *element, const char *title) {
    if (!title) {
        whole_file_print(svg->file, "/>\n");
        return;
    }
    whole_file_print(svg->file, "><title>");
    escape_xml(svg->file, title);
    whole_file_print(svg->file, "</title></%s>\n", element);
}

// Writes a number to a tenth of a unit, finer than the eye sees: "12", "12.5".
static void put_number(WholeFile *file, const char *before, double value) {
    double tenths = round(10.0 * value);
    bool whole = fmod(tenths, 10.0) == 0.0;
    whole_file_print(file, whole ? "%s%.0f" : "%s%.1f", before, tenths / 10.0);
}

static void put_attribute(const Svg *svg, const char *name, double value) {
    whole_file_print(svg->file, " %s=\"", name);
    put_number(svg->file, "", value);
    whole_file_print(svg->file, "\"");
}

void svg_rect(const Svg *svg, double x1, double y1, double x2, double y2, const char *class,
              const char *title) {
    whole_file_print(svg->file, "<rect class=\"%s\"", class);
    put_attribute(svg, "x", fmin(x1, x2));
    put_attribute(svg, "y", fmin(y1, y2));
    put_attribute(svg, "width", fabs(x2 - x1));
    put_attribute(svg, "height", fabs(y2 - y1));
    put_title(svg, "rect", title);
}

void svg_line(const Svg *svg, double x1, double y1, double x2, double y2, const char *class) {
    whole_file_print(svg->file, "<line class=\"%s\"", class);
    put_attribute(svg, "x1", x1);
    put_attribute(svg, "y1", y1);
    put_attribute(svg, "x2", x2);
    put_attribute(svg, "y2", y2);
    put_title(svg, "line", NULL);
}

void svg_dot(const Svg *svg, double x, double y, double radius, const char *class, const char *link,
             const char *title) {
    if (link) {
        whole_file_print(svg->file, "<a");
        escape_attribute(svg->file, "href", link);
        escape_attribute(svg->file, "aria-label", title);
        whole_file_print(svg->file, ">");
    }
    whole_file_print(svg->file, "<circle class=\"%s\"", class);
    put_attribute(svg, "cx", x);
    put_attribute(svg, "cy", y);
    put_attribute(svg, "r", radius);
    put_title(svg, "circle", title);
    if (link) whole_file_print(svg->file, "</a>\n");
}

void svg_text(const Svg *svg, double x, double y, const char *class, const char *text) {
    whole_file_print(svg->file, "<text class=\"%s\"", class);
    put_attribute(svg, "x", x);
    put_attribute(svg, "y", y);
    whole_file_print(svg->file, ">");
    escape_xml(svg->file, text);
    whole_file_print(svg->file, "</text>\n");
}

void svg_path_begin(const Svg *svg, const char *class) {
    whole_file_print(svg->file, "<path class=\"%s\" d=\"", class);
}

void svg_path_point(const Svg *svg, double x, double y, bool first) {
    put_number(svg->file, first ? "M" : "L", x);
    put_number(svg->file, " ", y);
}

void svg_path_end(const Svg *svg, const char *title) {
    whole_file_print(svg->file, "\"");
    put_title(svg, "path", title);
}

// ---- axes --------------------------------------------------------------------------------------
double svg_at(const SvgAxis *axis, double value) {
    double from = axis->from, to = axis->to;
    if (axis->logarithmic) {
        from = log10(from);
        to = log10(to);
        value = log10(value);
    }
    double share = to > from ? (value - from) / (to - from) : 0.0;
    return axis->at + fmin(fmax(share, 0.0), 1.0) * (axis->until - axis->at);
}

// Marks powers of ten; also 2 and 5 times these if the axis spans at most two.
static int decades(const SvgAxis *axis, int most, double marks[]) {
    static const double factors[] = {1.0, 2.0, 5.0};
    int from = (int)floor(log10(axis->from)), to = (int)ceil(log10(axis->to)), n = 0;
    int used = to - from <= 2 ? 3 : 1, step = used == 3 ? 1 : 1 + (to - from) / most;
    for (int power = from; power <= to; power += step)
        for (int f = 0; f < used && n < most; f++) {
            double mark = factors[f] * pow(10.0, power);
            if (mark >= axis->from * (1.0 - 1e-9) && mark <= axis->to * (1.0 + 1e-9))
                marks[n++] = mark;
        }
    return n;
}

int svg_marks(const SvgAxis *axis, int most, double marks[]) {
    static const double factors[] = {1.0, 2.0, 5.0, 10.0};
    if (axis->logarithmic) return decades(axis, most, marks);
    double least = (axis->to - axis->from) / most, power = pow(10.0, floor(log10(least)));
    int f = 0, n = 0;
    if (!(least > 0.0)) return 0;
    while (f < 3 && factors[f] * power < least) f++;
    double step = factors[f] * power;
    for (double mark = ceil(axis->from / step - 1e-9) * step;
         mark <= axis->to + 1e-9 * step && n < most; mark += step)
        marks[n++] = mark;
    return n;
}
