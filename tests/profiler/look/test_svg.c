// test_svg.c -- the elements of a drawing, to the character; places of values on an axis, and the
// choice of marks.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/look/svg.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/markup.h"

START_TEST(each_shape_is_an_element) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    WholeFile *file = whole_file_on(stream, "drawing");
    Svg svg = svg_begin(file, SVG_PICTURE, "d", "A & \"B\" <C>", 100, 50.4);
    svg_rect(&svg, 20, 10, 5, 4.26, "forward", "fc1: 3 us\n");
    svg_line(&svg, 0, 0, 1.04, -1, "grid");
    svg_dot(&svg, 1, 2, 3, "dot", "#d-title", "<dot>");
    svg_dot(&svg, 1, 2, 3, "dot", NULL, "dot");
    svg_text(&svg, 1, 2, "label end", "\x1b[31m");
    svg_path_begin(&svg, "line");
    svg_path_point(&svg, 1, 2, true);
    svg_path_point(&svg, 3.5, -4, false);
    svg_path_end(&svg, NULL);
    svg_end(&svg);
    ck_assert_int_eq(whole_file_close(file), STATUS_OK);
    fclose(stream);
    ck_assert_str_eq(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 100 50\" role=\"img\" "
        "aria-labelledby=\"d-title\">\n"
        "<title id=\"d-title\">A &amp; &quot;B&quot; &lt;C&gt;</title>\n"
        "<rect class=\"forward\" x=\"5\" y=\"4.3\" width=\"15\" height=\"5.7\">"
        "<title>fc1: 3 us&#10;</title></rect>\n"
        "<line class=\"grid\" x1=\"0\" y1=\"0\" x2=\"1\" y2=\"-1\"/>\n"
        "<a href=\"#d-title\" aria-label=\"&lt;dot&gt;\"><circle class=\"dot\" cx=\"1\" cy=\"2\" "
        "r=\"3\"><title>&lt;dot&gt;</title></circle>\n</a>\n"
        "<circle class=\"dot\" cx=\"1\" cy=\"2\" r=\"3\"><title>dot</title></circle>\n"
        "<text class=\"label end\" x=\"1\" y=\"2\">?[31m</text>\n"
        "<path class=\"line\" d=\"M1 2L3.5 -4\"/>\n"
        "</svg>\n");
    markup_check(text);
    free(text);
}
END_TEST

START_TEST(an_axis_is_straight_or_logarithmic) {
    const SvgAxis line = {.from = 10, .to = 20, .at = 100, .until = 0};
    ck_assert_double_eq(svg_at(&line, 10), 100);
    ck_assert_double_eq(svg_at(&line, 15), 50);
    ck_assert_double_eq(svg_at(&line, 25), 0); // the axis's end
    ck_assert_double_eq(svg_at(&line, -1), 100);
    const SvgAxis log = {.from = 0.1, .to = 1000, .at = 0, .until = 400, .logarithmic = true};
    ck_assert_double_eq_tol(svg_at(&log, 1), 100, 1e-9);
    ck_assert_double_eq_tol(svg_at(&log, 1000), 400, 1e-9);
    ck_assert_double_eq(svg_at(&log, 0.0), 0); // 0 has no logarithm
    const SvgAxis point = {.from = 3, .to = 3, .at = 7, .until = 9};
    ck_assert_double_eq(svg_at(&point, 3), 7);
}
END_TEST

static const struct {
    double from, to;
    bool logarithmic;
    int most, n;
    double marks[8];
} marked[] = {
    {0, 10, false, 6, 6, {0, 2, 4, 6, 8, 10}},
    {0, 1.3, false, 8, 7, {0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2}},
    {3, 8, false, 4, 3, {4, 6, 8}},
    {5, 5, false, 4, 0, {0}},
    {0.1, 1000, true, 8, 5, {0.1, 1, 10, 100, 1000}},
    {30, 700, true, 8, 4, {50, 100, 200, 500}},
    {1e-6, 1e6, true, 6, 5, {1e-6, 1e-3, 1, 1e3, 1e6}},
};
enum { MARKED = sizeof marked / sizeof marked[0] };

START_TEST(marks_are_round) {
    const SvgAxis axis = {.from = marked[_i].from,
                          .to = marked[_i].to,
                          .logarithmic = marked[_i].logarithmic};
    double marks[16];
    int n = svg_marks(&axis, marked[_i].most, marks);
    ck_assert_int_eq(n, marked[_i].n);
    for (int i = 0; i < n; i++)
        ck_assert_double_eq_tol(marks[i], marked[_i].marks[i], 1e-9 * (1 + marked[_i].marks[i]));
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {each_shape_is_an_element, 0},
        {an_axis_is_straight_or_logarithmic, 0},
        {marks_are_round, MARKED},
        {NULL, 0},
    };
    return harness_main("svg", tests);
}
