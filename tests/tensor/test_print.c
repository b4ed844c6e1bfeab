// test_print.c -- tensor_print against NumPy: tests/fixtures/print.txt holds arrays and NumPy's
// output for them (made by tests/fixtures/make_print.py).
#include <stdlib.h>
#include <string.h>

#include "tensor/context.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/helpers/harness.h"

enum { MAX_LINE = 4096, MAX_TEXT = 1 << 16 };

typedef struct Case {
    char what[MAX_LINE];
    DType dtype;
    Shape shape;
    char values[MAX_LINE];
    char view[MAX_LINE];
    char text[MAX_TEXT];
} Case;

// The next line without its end; "" after the last.
static char *next_line(FILE *file, char line[MAX_LINE]) {
    if (!fgets(line, MAX_LINE, file)) line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static void read_dtype_and_shape(Case *c, FILE *file) {
    char line[MAX_LINE];
    char *word = strtok(next_line(file, line), " ");
    ck_assert_ptr_nonnull(word);
    c->dtype = DTYPE_FLOAT32;
    while (c->dtype < DTYPE_COUNT && strcmp(word, dtype_name(c->dtype)) != 0) c->dtype++;
    ck_assert_msg(c->dtype < DTYPE_COUNT, "fixture: unknown dtype %s", word);
    c->shape = SHAPE_SCALAR;
    while ((word = strtok(NULL, " ")) != NULL) c->shape.dims[c->shape.ndim++] = atoll(word);
}

// False after the last case.
static bool read_case(Case *c, FILE *file) {
    char line[MAX_LINE];
    if (strncmp(next_line(file, line), "case ", 5) != 0) return false;
    strcpy(c->what, line + 5);
    read_dtype_and_shape(c, file);
    next_line(file, c->values);
    strcpy(c->view, next_line(file, line) + strlen("view "));
    int lines = atoi(next_line(file, line) + strlen("text "));
    c->text[0] = '\0';
    size_t used = 0;
    for (int i = 0; i < lines; i++)
        used += (size_t)snprintf(c->text + used, MAX_TEXT - used, "%s\n", next_line(file, line));
    return true;
}

static void set_value(Tensor *t, int64_t i, const char *word, float ramp_scale) {
    float ramp = (float)((i * 7919) % 10007 - 5000) * ramp_scale;
    if (t->dtype == DTYPE_FLOAT32) {
        ((float *)t->storage->data)[i] = word ? strtof(word, NULL) : ramp;
    } else if (t->dtype == DTYPE_INT64) {
        ((int64_t *)t->storage->data)[i] = word ? strtoll(word, NULL, 10) : (int64_t)ramp;
    } else {
        ((uint8_t *)t->storage->data)[i] = (uint8_t)strtoul(word, NULL, 10);
    }
}

static Tensor *case_tensor(Case *c) {
    Tensor *t = tensor_new(c->shape, c->dtype);
    ck_assert_msg(t != NULL, "%s", error_message());
    char *kind = strtok(c->values, " ");
    bool is_list = strcmp(kind, "list") == 0;
    float scale = is_list ? 0.0f : strtof(strtok(NULL, " "), NULL);
    for (int64_t i = 0; i < t->numel; i++)
        set_value(t, i, is_list ? strtok(NULL, " ") : NULL, scale);
    return t;
}

static Tensor *case_view(const Case *c, Tensor *t) {
    int last = t->shape.ndim - 1;
    if (strcmp(c->view, "transpose") == 0) return tensor_transpose(t, last - 1, last);
    if (strcmp(c->view, "step") == 0) return tensor_slice(t, last, 0, t->shape.dims[last], 2);
    return t;
}

// The text that tensor_print writes; free it.
static char *printed(const Tensor *t) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    Status status = tensor_print(t, file);
    fclose(file);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    return text;
}

START_TEST(output_equals_numpy) {
    static Case c;
    FILE *file = fopen("tests/fixtures/print.txt", "r");
    ck_assert_msg(file != NULL, "tests/fixtures/print.txt is missing: run from the project's root");
    int cases = 0;
    for (; read_case(&c, file); cases++) {
        Scope *scope = scope_open();
        Tensor *t = case_tensor(&c);
        char *text = printed(case_view(&c, t));
        ck_assert_msg(strcmp(text, c.text) == 0, "%s: got\n%swanted\n%s", c.what, text, c.text);
        free(text);
        scope_close(scope);
        tensor_free(t);
    }
    fclose(file);
    ck_assert_int_ge(cases, 50);
}
END_TEST

START_TEST(meta_tensors_have_nothing_to_print) {
    context_set_device(device_meta());
    Tensor *t = tensor_new(SHAPE(2, 3), DTYPE_FLOAT32);
    ck_assert_int_eq(tensor_print(t, stdout), STATUS_DEVICE);
    ck_assert_ptr_nonnull(strstr(error_message(), "(2, 3)"));
    ck_assert_ptr_nonnull(strstr(error_message(), "HINT"));
    error_clear();
    tensor_free(t);
}
END_TEST

START_TEST(data_of_another_device_is_copied_first) {
    static Device far; // works as the CPU does, but nobody may read its pointers
    far = *device_cpu();
    far.name = "far";
    far.on_host = false;
    context_set_device(&far);
    Scope *scope = scope_open();
    Tensor *t = tensor_from_floats_new(SHAPE(2, 3), (float[]){1, 2, 3, 4, 5, 6.5f});
    char *text = printed(tensor_slice(t, 1, 1, 3, 1));
    ck_assert_str_eq(text, "[[2.  3. ]\n [5.  6.5]]\n");
    free(text);
    memory_fail_at(1);
    ck_assert_int_eq(tensor_print(t, stdout), STATUS_OUT_OF_MEMORY);
    error_clear();
    scope_close(scope);
    tensor_free(t);
}
END_TEST

START_TEST(no_tensor_is_an_error_and_a_pending_one_stays) {
    ck_assert_int_eq(tensor_print(NULL, stdout), STATUS_STATE);
    error_clear();
    error_set(STATUS_SHAPE, "earlier");
    ck_assert_int_eq(tensor_print(NULL, stdout), STATUS_SHAPE);
    ck_assert_str_eq(error_message(), "earlier");
    error_clear();
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_an_error) {
    FILE *file = fopen("/dev/null", "r");
    ck_assert_ptr_nonnull(file);
    Tensor *t = tensor_new(SHAPE(0), DTYPE_FLOAT32);
    ck_assert_int_eq(tensor_print(t, file), STATUS_IO);
    error_clear();
    fclose(file);
    tensor_free(t);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{output_equals_numpy, 0},
                                 {meta_tensors_have_nothing_to_print, 0},
                                 {data_of_another_device_is_copied_first, 0},
                                 {no_tensor_is_an_error_and_a_pending_one_stays, 0},
                                 {a_file_that_cannot_be_written_is_an_error, 0},
                                 {NULL, 0}};
    return harness_main("print", tests);
}
