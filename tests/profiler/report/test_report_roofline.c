// test_report_roofline.c -- the roofline of the terminal report, read back: every layer has a
// letter at its intensity, and every letter one meaning, however the layers overlap.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/report_table.h"
#include "tests/helpers/harness.h"
#include "tests/profiler/report/view_table.h"

enum { NETS = 40, COLUMNS = 76, MOST_LINES = 40 };

typedef struct Picture {
    char *text, *copy, *lines[MOST_LINES];
    int n, axis;         // axis: number of its line
    char names[128][40]; // meaning of a letter
    int layers[128];     // layers that it stands for
} Picture;

static void read_legend(Picture *picture) {
    for (int l = picture->axis + 2; l < picture->n; l++)
        for (char *at = picture->lines[l]; *at;) {
            ck_assert_msg(strncmp(at, "  ", 2) == 0 && at[3] == ' ', "%s", picture->text);
            int letter = at[2];
            at += 4;
            char *end = strstr(at, "  ");
            size_t length = end ? (size_t)(end - at) : strlen(at);
            ck_assert_msg(!picture->names[letter][0], "%c is told twice: %s", letter,
                          picture->text);
            snprintf(picture->names[letter], 40, "%.*s", (int)length, at);
            char *many = strrchr(picture->names[letter], '(');
            picture->layers[letter] = many && many[1] >= '2' && many[1] <= '9' ? atoi(many + 1) : 1;
            at += length;
        }
}

static Picture picture_of(const Profile *profile) {
    static Picture picture;
    memset(&picture, 0, sizeof picture);
    size_t size;
    FILE *file = open_memstream(&picture.text, &size);
    report_print_roofline(profile, file);
    fclose(file);
    char *rest;
    picture.copy = strdup(picture.text);
    for (char *line = strtok_r(picture.copy, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        ck_assert_msg(strlen(line) <= 80 && picture.n < MOST_LINES, "%s", picture.text);
        if (strncmp(line, "  +--", 5) == 0 || strncmp(line, "  ^--", 5) == 0)
            picture.axis = picture.n;
        picture.lines[picture.n++] = line;
    }
    ck_assert_msg(picture.axis > 0, "%s", picture.text);
    read_legend(&picture);
    return picture;
}

static int column_of(double intensity) {
    return (int)lround(fmin(fmax((log10(intensity) + 1) / 4, 0), 1) * (COLUMNS - 1));
}

// The letters above a column, from the axis upwards.
static void pile_at(const Picture *picture, int column, char pile[16]) {
    int n = 0;
    for (int l = picture->axis - 1; l > 0 && n < 15; l--) {
        bool there = (int)strlen(picture->lines[l]) > column + 2;
        char letter = there ? picture->lines[l][column + 2] : ' ';
        if (strncmp(picture->lines[l], "ROOFLINE", 8) == 0) break;
        if (letter != ' ') pile[n++] = letter;
    }
    pile[n] = '\0';
}

static void check(const Profile *profile) {
    Picture picture = picture_of(profile);
    int told = 0, standing = 0;
    for (int i = 0; i < profile->n_layers; i++) {
        const ProfileLayer *layer = &profile->layers[i];
        double intensity = profile_intensity(layer->phase[REPORT_STEP].cost);
        if (!(intensity > 0)) continue;
        standing++;
        char pile[16];
        pile_at(&picture, column_of(intensity), pile);
        bool found = strchr(pile, '+') != NULL; // more letters than fit
        for (const char *c = pile; *c; c++)
            ck_assert_msg(!strchr(c + 1, *c), "%c twice in one place:\n%s", *c, picture.text);
        for (const char *c = pile; *c && !found; c++) {
            const char *name = picture.names[(int)*c];
            found = strncmp(name, layer->type, strlen(layer->type)) == 0 ||
                    strncmp(name, profile_layer_title(profile, layer).s, strcspn(name, " ")) == 0;
        }
        ck_assert_msg(found, "%s, %s, is not at %g FLOP/B:\n%s", layer->path, layer->type,
                      intensity, picture.text);
    }
    for (int c = 0; c < 128; c++) told += picture.layers[c];
    ck_assert_msg(told == standing, "%d layers of %d:\n%s", told, standing, picture.text);
    free(picture.copy);
    free(picture.text);
}

START_TEST(every_layer_has_its_letter) {
    Profile profile = view_profile_new(_i, (ViewKind)(_i % VIEW_META));
    check(&profile);
    for (int i = 0; i < profile.n_layers; i++) // all in one place, or at both ends
        profile.layers[i].phase[REPORT_STEP].cost = (OpCost){.macs = 500,
                                                             .bytes_read = _i % 2  ? 1000
                                                                           : i % 2 ? 1
                                                                                   : 1u << 30};
    check(&profile);
    profile_free(&profile);
}
END_TEST

// Without ceilings there is no roof.
START_TEST(without_a_machine_there_is_none) {
    Profile profile = view_profile_new(1, VIEW_WITHOUT_MACHINE);
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    report_print_roofline(&profile, file);
    fclose(file);
    ck_assert_str_eq(text, "");
    free(text);
    profile_free(&profile);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{every_layer_has_its_letter, NETS},
                                 {without_a_machine_there_is_none, 0},
                                 {NULL, 0}};
    return harness_main("report_roofline", tests);
}
