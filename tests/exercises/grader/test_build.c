// test_build.c -- from a student's file to a worker: files that compile, in any style, with any
// names; files that are refused, and the words; and a machine that fails: not the student's fault.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "exercises/grader/build_parts.h"
#include "tensor/clock.h"
#include "tensor/memory.h"
#include "tests/exercises/grader/build_trial.h"
#include "tests/exercises/sample/sample_exercise.h"

#define RIGHT SAMPLE_HEAD SAMPLE_RIGHT

// ---- right files -------------------------------------------------------------------------------
START_TEST(a_right_file_becomes_a_worker) {
    Trial trial;
    struct stat made;
    trial_begin(&trial, "90", RIGHT);
    trial_make(&trial);
    ck_assert_msg(trial.build.end == BUILD_DONE, "%s", trial.build.detail);
    ck_assert_msg(!trial.build.output, "%s", trial.build.output);
    ck_assert_int_eq(trial.build.lines[0], 7);
    ck_assert_str_eq(trial.build.note, "");
    ck_assert_int_eq(fstatat(trial.build.room.descriptor, "worker", &made, 0), 0);
    ck_assert_uint_eq(made.st_mode & 0777, 0755);
    ck_assert(build_control(&trial.order, &trial.build));
    ck_assert_int_eq(fstatat(trial.build.room.descriptor, "control", &made, 0), 0);
    trial_end(&trial);
}
END_TEST

// <string.h> declares index(), but only with GNU's names on; the second file needs them on.
START_TEST(names_of_headers_are_those_that_the_file_needs) {
    static const char *const texts[] = {
        "#include <string.h>\nstatic size_t index(const char *s) { return strlen(s); }\n"
        "int sample(void) { return (int)index(\"a\"); }\n",
        "#include <string.h>\nint sample(void) { return *strchrnul(\"a\", 'b'); }\n",
        "#include \"ex90_sample.h\"\n" // as the header lies beside the file
        "Status sample(int64_t n, int64_t *twice, double *half) {\n"
        "*twice = 2 * n; *half = 0.5 * (double)n; return STATUS_OK; }\n"};
    for (int i = 0; i < 3; i++) trial_check("90", texts[i], BUILD_DONE, "", NULL);
}
END_TEST

// Names that also occur in the engine, in the worker or in the C library.
START_TEST(names_of_ones_own_never_clash) {
    static const char *const names[] = {
        "layer_flops",   "memory_find", "memory_new", "send",       "error_report", "lab_malloc",
        "worker_call",   "worker_note", "look",       "own",        "state",        "exercise_call",
        "answer_status", "answer_real", "write_all",  "read_all",   "filter_make",  "remote_model",
        "lab_time",      "context_tls", "op_matmul",  "blas_gemm",  "sum",          "index",
        "div2",          "gamma2",      "y00",        "signal2",    "read",         "write",
        "fork",          "open",        "kill",       "system",     "dlsym",        "connect",
        "listen",        "select",      "wait",       "pipe",       "time2",        "clock2",
        "_start",        "_init2",      "environ",    "data_start", "edata",        "end",
        "sample_call",   "layer_cost",  "op_cost",    "cost",       "profile"};
    char text[1600];
    const char *name = names[_i];
    snprintf(text, sizeof text,
             "#include <stdint.h>\n#include \"exercises/ex90_sample.h\"\n"
             "int64_t %s(int64_t n);\nint64_t %s(int64_t n) { return 2 * n; }\n"
             "Status sample(int64_t n, int64_t *twice, double *half) {\n"
             "if (n < 0) return STATUS_INVALID_ARGUMENT;\n"
             "*twice = %s(n); *half = 0.5 * (double)n; return STATUS_OK; }\n",
             name, name, name);
    trial_check("90", text, BUILD_DONE, "", NULL);
}
END_TEST
enum { NAMES = 53 };

START_TEST(what_the_library_has_may_be_replaced) {
    static const char *const texts[] = {
        "#include <stddef.h>\nstatic void *malloc(size_t n) { (void)n; return 0; }\n"
        "void *keep(void) { return malloc(3); }\n",
        "#include <stddef.h>\nvoid *malloc(size_t n) { (void)n; return 0; }\n"
        "void free(void *p) { (void)p; }\n",
        "#include <time.h>\nint clock_gettime(clockid_t i, struct timespec *t)"
        " { (void)i; t->tv_sec = 0; return 0; }\n",
        "#include <stdlib.h>\nvoid __stack_chk_fail(void) { abort(); }\n",
        "int common_one;\nint *common(void) { return &common_one; }\n",
        "static _Thread_local int each = 3;\nint *of_each(void) { return &each; }\n",
        "__attribute__((weak)) int weak_one(void) { return 1; }\n",
        "__attribute__((constructor)) static void before(void) {}\n",
        "int main(int argc, char **argv) { return argc + (argv != 0); }\n",
        "int main(void) { return 0; }\n",
        "#include <stdio.h>\nstatic int load(const char *path) { return fopen(path, \"r\") != 0; "
        "}\n"
        "int main(int argc, char **argv) {\n int n; return scanf(\"%d\", &n) + load(argv[argc - "
        "1]); }"
        "\n",
    };
    char text[3000];
    snprintf(text, sizeof text, "%s\n%s", texts[_i], RIGHT);
    Trial trial;
    trial_begin(&trial, "90", text);
    trial_make(&trial);
    ck_assert_msg(trial.build.end == BUILD_DONE, "%s: %s %s", texts[_i], trial.build.detail,
                  trial.build.output ? trial.build.output : "");
    bool main_told = strstr(trial.build.note, " has a main()") != NULL;
    ck_assert_int_eq(main_told, _i >= 8);
    trial_end(&trial);
}
END_TEST
enum { REPLACED = 11 };

START_TEST(anything_that_computes_may_be_called) {
    static const char head[] =
        "#include <assert.h>\n#include <ctype.h>\n#include <errno.h>\n#include <float.h>\n"
        "#include <inttypes.h>\n#include <limits.h>\n#include <math.h>\n#include <setjmp.h>\n"
        "#include <stdarg.h>\n#include <stdbool.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
        "#include <string.h>\n#include <strings.h>\n#include <time.h>\n#include <sys/time.h>\n"
        "#include \"exercises/ex90_sample.h\"\n"
        "static int by(const void *a, const void *b) { return *(const int *)a - *(const int *)b; "
        "}\n"
        "Status sample(int64_t n, int64_t *twice, double *half) {\n"
        "char s[80] = \"a b\", *p = s; int v[4] = {3, 1, 2}; double d = (double)n; (void)p; "
        "(void)v;"
        " (void)d; (void)twice; (void)half; (void)by;\n";
    static const char *const calls[] = {
        "qsort(v, 3, sizeof *v, by); p = bsearch(v, v, 3, sizeof *v, by);",
        "p = strstr(s, \"b\"); v[0] = strcmp(s, p) + strncmp(s, p, 2) + strcasecmp(s, p);",
        "p = strtok(s, \" \"); p = strdup(p); free(p); v[0] = (int)strlen(s) + (int)strcspn(s, "
        "\"b\");",
        "p = strchr(s, 'b'); p = strrchr(s, 'b'); p = strpbrk(s, \"b\"); strcat(s, \"c\");",
        "memmove(s, s + 1, 3); memset(s, 0, 4); v[0] = memcmp(s, s + 1, 2); p = memchr(s, 0, 3);",
        "v[0] = atoi(s) + (int)strtol(s, &p, 10) + (int)strtoull(s, &p, 0); d = strtod(s, &p);",
        "printf(\"%d %f\\n\", v[0], d); fprintf(stderr, \"%s\", s); puts(s); putchar('x');",
        "snprintf(s, sizeof s, \"%\" PRId64, n); sscanf(s, \"%d\", v); fflush(stdout); perror(s);",
        "fputs(s, stdout); fputc('x', stderr); fwrite(s, 1, 2, stdout); sprintf(s, \"%d\", v[0]);",
        "d = sqrt(d) + pow(d, 2.5) + exp(d) + log(d) + log2(d) + log10(d) + sin(d) + atan2(d, d);",
        "d = fmin(d, 1) + fmax(d, 1) + floor(d) + ceil(d) + round(d) + trunc(d) + fmod(d, 2) + "
        "fabs(d);",
        "d = cbrt(d) + hypot(d, d) + ldexp(d, 2) + scalbn(d, 1) + nearbyint(d) + rint(d) + "
        "tgamma(d);",
        "v[0] = (int)lround(d) + (int)llround(d) + (int)lrint(d) + isnan(d) + isinf(d) + "
        "signbit(d);",
        "d = (double)sqrtf((float)d) + (double)powl(d, d) + (double)fmaf(1.f, 2.f, (float)d) + "
        "nan(\"\");",
        "assert(n != 4711); assert(d == d);",
        "if (n == 4711) exit(3); if (n == 4712) abort(); if (n == 4713) _Exit(2);",
        "jmp_buf j; if (setjmp(j) == 0 && n == 4711) longjmp(j, 1);",
        "v[0] = isdigit(s[0]) + toupper(s[0]) + isalpha(s[0]) + abs(-1) + (int)llabs(n); errno = "
        "0;",
        "struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); d = difftime(time(0), 0) + "
        "(double)clock();",
        "struct timeval t; gettimeofday(&t, 0); struct timespec u = {0, 1}; nanosleep(&u, 0);",
        "p = malloc(3); p = realloc(p, 5); free(p); p = calloc(2, 2); free(p); p = "
        "aligned_alloc(64, 64); free(p);",
        "srand(1); v[0] = rand(); div_t q = div(v[0], 3); v[1] = q.quot; p = strerror(errno);",
        "__int128 w = n; w *= n; w /= 7; w %= 3; d = (double)w; long double l = d; l *= l; d = "
        "(double)l;",
        "p = strncpy(s, \"x\", 3); p = strndup(s, 2); free(p); v[0] = (int)strnlen(s, 9); p = "
        "stpcpy(s, \"y\"); v[1] = asprintf(&p, \"%d\", v[0]); free(p);",
        "v[0] = __builtin_popcountll((unsigned long long)n); v[1] = __builtin_mul_overflow(n, n, "
        "&n);",
    };
    char text[4000];
    ck_assert_int_lt(_i, (int)(sizeof calls / sizeof calls[0]));
    snprintf(text, sizeof text, "%s%s\nreturn STATUS_OK; }\n", head, calls[_i]);
    trial_check("90", text, BUILD_DONE, "", NULL);
}
END_TEST
enum { CALLS = 25 };

START_TEST(names_are_sorted_by_one_rule) {
    Object none = {.n_symbols = 0};
    static const char *const allowed[] = {"strcmp",          "qsort",           "__printf_chk",
                                          "__isoc99_sscanf", "__isoc23_strtol", "abort",
                                          "__udivti3",       "fesetround",      "log1pf",
                                          "expm1",           "truncf",          "__memcpy_chk"};
    static const char *const refused[] = {"system",  "fopen",  "open",           "fork",
                                          "socket",  "dlsym",  "login",          "truncate",
                                          "fexecve", "popen",  "getenv",         "mmap",
                                          "syscall", "signal", "pthread_create", "remove",
                                          "tmpfile", "execve", "scanf",          "explicit_bzero"};
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        ck_assert_msg(name_rule(allowed[i], &none, false) == NAME_ALLOWED, "%s", allowed[i]);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        ck_assert_msg(name_rule(refused[i], &none, false) == NAME_REFUSED, "%s", refused[i]);
    ck_assert_int_eq(name_rule("strcmpp", &none, false), NAME_NOWHERE);
    ck_assert_int_eq(name_rule("mock_launch", &none, false), NAME_ELSEWHERE);
    ck_assert_int_eq(name_rule("__asan_report_load4", &none, true), NAME_ALLOWED);
    ck_assert_int_eq(name_rule("", &none, false), NAME_NOWHERE);
}
END_TEST

START_TEST(a_long_line_of_names_costs_no_minutes) {
    size_t size = 1 << 18; // quadratic time would be minutes
    char *text = calloc(1, size + 1);
    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i + 8 < size; i += 7) memcpy(text + i, "sample(", 7);
    double begun = clock_seconds();
    ck_assert_int_eq(source_definition(text, "sample"), 0);
    ck_assert_int_eq(source_line_of(text, "sample"), 1);
    ck_assert_double_lt(clock_seconds() - begun, 60.0);
    free(text);
}
END_TEST

// ---- wrong files -------------------------------------------------------------------------------
START_TEST(what_is_wrong_is_named) {
    static const struct {
        const char *number, *text;
        BuildEnd end;
        const char *detail, *output;
    } files[] = {
        {"90", "int sample(void) { return 0 }\n", BUILD_FAILED, "the compiler refuses it",
         "ex90_sample.c:1"},
        {"90", "", BUILD_FAILED, "sample is not defined: is it misspelt, or static?", NULL},
        {"90", "static int sample(void) { return 0; }\nint (*p)(void) = sample;\n", BUILD_FAILED,
         "sample is not defined", NULL},
        {"90", "#include \"missing.h\"\n", BUILD_FAILED, "refuses it", "missing.h"},
        {"90", "int sample(void) {\n return helper(1); }\n", BUILD_FAILED,
         "line 2: helper is called, and defined nowhere", NULL},
        {"90", "int system(const char *);\nint sample(void) { return system(\"\"); }\n",
         BUILD_FORBIDDEN, "line 1: system may not be called", "what computes"},
        {"90", "#include <stdio.h>\n\n\nint sample(void) { return fopen(\"x\", \"r\") != 0; }\n",
         BUILD_FORBIDDEN, "line 4: fopen may not", "string.h"},
        {"90", "int mock_launch(void);\nint sample(void) { return mock_launch(); }\n", BUILD_DONE,
         "", NULL},
        {"02", "int optimizer_step(void *);\nint count_flops(void) { return optimizer_step(0); }\n",
         BUILD_FORBIDDEN, "optimizer_step is not there in this exercise", NULL},
        {"02",
         "long layer_parameter_count(void *);\nlong count_flops(void) { return "
         "layer_parameter_count(0); }\n",
         BUILD_FAILED, "layer_parameter_count", NULL},
        {"90", "char big[600 << 20];\nint sample(void) { return big[0]; }\n", BUILD_FAILED,
         "its arrays take 600 MiB; 512 are enough", NULL},
        {"90", "__asm__(\".comm big, 700 << 20\");\nint sample(void) { return 0; }\n", BUILD_FAILED,
         "its arrays take 700 MiB", NULL},
        {"90", "int x(void) __asm__(\"a b\");\nint sample(void) { return x(); }\n", BUILD_FAILED,
         "", NULL},
    };
    ck_assert_int_lt(_i, (int)(sizeof files / sizeof files[0]));
    trial_check(files[_i].number, files[_i].text, files[_i].end, files[_i].detail,
                files[_i].output);
}
END_TEST
enum { WRONG = 13 };

START_TEST(a_file_that_is_none_is_refused) {
    Trial trial;
    trial_begin(&trial, "90", NULL);
    trial_make(&trial);
    ck_assert_int_eq(trial.build.end, BUILD_NO_FILE);
    ck_assert_str_eq(trial.build.detail, "ex90_sample.c");
    for (int i = 0; i < 4; i++) {
        const char *path = trial_path(&trial);
        if (i == 0) ck_assert_int_eq(mkdir(path, 0755), 0);
        if (i == 1) ck_assert_int_eq(symlink("/etc/passwd", path), 0);
        if (i == 2) ck_assert_int_eq(mkfifo(path, 0644), 0);
        if (i == 3) ck_assert_int_eq(file_write(NULL, path, "", 0), STATUS_OK);
        if (i == 3) ck_assert_int_eq(truncate(path, 2 << 20), 0);
        trial_make(&trial);
        ck_assert_int_eq(trial.build.end, BUILD_FAILED);
        ck_assert_ptr_nonnull(strstr(trial.build.detail, "no plain file"));
        ck_assert_int_eq(remove(trial_path(&trial)), 0);
    }
    trial_end(&trial);
}
END_TEST

// ---- the machine -------------------------------------------------------------------------------
// The parts with one of them missing or broken.
static const struct {
    const char *spoil; // a shell command, in a copy of the parts
    bool later;        // seen after a mistake in the student's file
} lacks[] = {
    {"sed -i 1s,.*,/nonexistent/gcc, tools", false},
    {"sed -i 1s,.*,/bin/false, tools", false},
    {"sed -i 1s,.*,/bin/true, tools", true},
    {"sed -i 2s,.*,/bin/false, tools", true},
    {"rm tools", false},
    {"echo gcc >tools", false},
    {"rm -r include", false},
    {"rm -r include && mkdir include", false},
    {"rm worker/ex90*", false},
    {"echo broken >worker/ex90_sample.o", false},
};
enum { LACKS = sizeof lacks / sizeof lacks[0] };

START_TEST(what_the_machine_lacks_is_no_fault_of_the_students) {
    Trial trial;
    char parts[80], command[400];
    trial_begin(&trial, "90", _i >= LACKS ? "this is no C;\n" : RIGHT);
    snprintf(parts, sizeof parts, "%s/parts", trial.folder);
    snprintf(command, sizeof command, "cp -r " SAMPLE_PARTS " %s && cd %s && %s", parts, parts,
             lacks[_i % LACKS].spoil);
    ck_assert_int_eq(system(command), 0);
    trial.order.parts = parts;
    trial_make(&trial);
    bool later = _i >= LACKS && lacks[_i % LACKS].later;
    ck_assert_msg(later || trial.build.end == BUILD_MACHINE, "%s: %d, %s", command,
                  (int)trial.build.end, trial.build.detail);
    ck_assert_str_ne(trial.build.detail, "");
    trial_end(&trial);
}
END_TEST

START_TEST(a_full_disk_is_no_fault_of_the_students) {
    const size_t size = 65 << 20; // of the disk mounted below
    Trial trial;
    trial_begin(&trial, "90", _i ? "this is no C;\n" : RIGHT);
    if (mkdir("/tmp/small", 0777) != 0 || mount("tmpfs", "/tmp/small", "tmpfs", 0, "size=65m") != 0)
        test_skip("only root can make a small disk");
    ck_assert_int_eq(setenv("TMPDIR", "/tmp/small", 1), 0);
    char *much = calloc(1, size);
    ck_assert_ptr_nonnull(much);
    for (int kib = 200; kib < 4096; kib *= 2) { // free space during the build
        trial_make(&trial);
        ck_assert_int_eq(trial.build.end, _i ? BUILD_FAILED : BUILD_DONE);
        build_free(&trial.build);
        FILE *file = fopen("/tmp/small/filler", "w");
        ck_assert_ptr_nonnull(file);
        (void)!fwrite(much, 1, size - ((size_t)kib << 10), file);
        fclose(file);
        trial_make(&trial);
        ck_assert_int_eq(trial.build.end, BUILD_MACHINE);
        ck_assert_int_eq(unlink("/tmp/small/filler"), 0);
    }
    free(much);
    trial_end(&trial);
    ck_assert_int_eq(umount("/tmp/small"), 0);
    ck_assert_int_eq(rmdir("/tmp/small"), 0);
}
END_TEST

START_TEST(no_memory_is_an_error) {
    for (uint64_t nth = 1 + (uint64_t)_i;; nth += 7) {
        Trial trial;
        trial_begin(&trial, "90", RIGHT);
        memory_fail_at(nth);
        Status status = build_make(&trial.order, &trial.build);
        memory_fail_at(0);
        bool done = status == STATUS_OK && trial.build.end == BUILD_DONE;
        if (status) ck_assert_int_eq(status, STATUS_OUT_OF_MEMORY);
        if (!status && !done) ck_assert_int_eq(trial.build.end, BUILD_MACHINE);
        error_clear();
        trial_end(&trial);
        if (done) break;
    }
}
END_TEST

// Any byte of an object may be wrong: it is refused, or read within bounds (run with asan).
START_TEST(a_broken_object_is_read_with_care) {
    Trial trial;
    trial_begin(&trial, "90", RIGHT);
    trial_make(&trial);
    size_t size;
    char path[600];
    snprintf(path, sizeof path, "%s/whole.o", trial.build.room.path);
    char *bytes = file_read(NULL, path, 1 << 20, &size);
    ck_assert_ptr_nonnull(bytes);
    uint64_t random = 12345;
    for (int i = 0; i < 3000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t table = (size_t)((Elf64_Ehdr *)(void *)bytes)->e_shoff;
        size_t at =
            (random >> 20) % 2 ? (random >> 33) % 64 : table + (random >> 33) % (size - table);
        char old = bytes[at];
        bytes[at] = (char)(random >> 56);
        (void)unlinkat(trial.build.room.descriptor, "broken.o", 0);
        ck_assert_int_eq(room_write(&trial.build.room, "broken.o", bytes,
                                    i % 3 ? size : (size_t)(random >> 40) % size),
                         STATUS_OK);
        bytes[at] = old;
        Object object;
        if (object_read(room_read(&trial.build.room, "broken.o"), &object) == STATUS_OK) {
            (void)object_memory(&object);
            (void)object_defines(&object, "sample");
            for (size_t k = 0; k < object.n_symbols; k++) (void)object_symbol_name(&object, k);
        }
        error_clear();
        object_free(&object);
    }
    memory_free(bytes);
    trial_end(&trial);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{a_right_file_becomes_a_worker, 0},
                                 {names_of_headers_are_those_that_the_file_needs, 0},
                                 {names_of_ones_own_never_clash, NAMES},
                                 {what_the_library_has_may_be_replaced, REPLACED},
                                 {anything_that_computes_may_be_called, CALLS},
                                 {names_are_sorted_by_one_rule, 0},
                                 {a_long_line_of_names_costs_no_minutes, 0},
                                 {what_is_wrong_is_named, WRONG},
                                 {a_file_that_is_none_is_refused, 0},
                                 {what_the_machine_lacks_is_no_fault_of_the_students, 2 * LACKS},
                                 {a_full_disk_is_no_fault_of_the_students, 2},
                                 {no_memory_is_an_error, 7},
                                 {a_broken_object_is_read_with_care, 0},
                                 {NULL, 0}};
    return trial_main("build", tests);
}
