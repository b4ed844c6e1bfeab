// test_build_secrets.c -- a student's file tries to read other files with a compiler, an assembler
// and a linker: it sees none, and neither does the worker built from it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "tensor/memory.h"
#include "tests/exercises/grader/build_trial.h"
#include "tests/exercises/sample/sample_exercise.h"

#define RIGHT SAMPLE_HEAD SAMPLE_RIGHT
#define SECRET_FILE "/tmp/secret_folder/secret.h"

// The secret is C, so that it could be included. Its word must not show up anywhere.
static const char secret_word[] = "Canary4711Word";
static const char secret_text[] = "int Canary4711Word = 1;\n#define CANARY "
                                  "\"Canary4711Word\"\n#pragma message \"Canary4711Word\"\n";

static void make_secret(void) {
    ck_assert(mkdir("/tmp/secret_folder", 0755) == 0 || access(SECRET_FILE, F_OK) == 0);
    ck_assert_int_eq(file_write(NULL, SECRET_FILE, secret_text, strlen(secret_text)), STATUS_OK);
    ck_assert_int_eq(chmod(SECRET_FILE, 0644), 0);
    if (geteuid() == 0) ck_assert_int_eq(chown(SECRET_FILE, 65534, 65534), 0);
}

static bool has(const char *text, size_t size, const char *word) {
    return text && memmem(text, size, word, strlen(word)) != NULL;
}

// Checks all texts that anybody reads, and everything that was built.
static void check_unseen(const Trial *trial, const char *what, const char *word) {
    static const char *const files[] = {"whole.o", "student.o", "worker", "control.c", "whole.s"};
    const Build *build = &trial->build;
    const char *said = build->output ? build->output : "";
    ck_assert_msg(!has(build->detail, strlen(build->detail), word), "%s: %s", what, build->detail);
    ck_assert_msg(!has(build->note, strlen(build->note), word), "%s: %s", what, build->note);
    ck_assert_msg(!has(said, strlen(said), word), "%s: %s", what, said);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[600];
        size_t size = 0;
        snprintf(path, sizeof path, "%s/%s", build->room.path, files[i]);
        char *bytes = access(path, F_OK) == 0 ? file_read(NULL, path, 32 << 20, &size) : NULL;
        error_clear();
        ck_assert_msg(!has(bytes, size, word), "%s: in %s", what, files[i]);
        memory_free(bytes);
    }
}

static const char *const tricks[] = {
    "#include \"" SECRET_FILE "\"\n",
    "#include <" SECRET_FILE ">\n",
    "#include \"../../../../../../../../../../.." SECRET_FILE "\"\n",
    "#include \"include/../../../secret_folder/secret.h\"\n",
    "#include </usr/include/../.." SECRET_FILE ">\n",
    "#define FILE_NAME \"" SECRET_FILE "\"\n#include FILE_NAME\n",
    "#define A(x) <x>\n#include A(" SECRET_FILE ")\n",
    "#include_next \"" SECRET_FILE "\"\n",
    "#import \"" SECRET_FILE "\"\n",
    "%:include \"" SECRET_FILE "\"\n",
    "?\?=include \"" SECRET_FILE "\"\n",
    "#inc\\\nlude \"" SECRET_FILE "\"\n",
    "#/**/include/**/\"" SECRET_FILE "\"\n",
    "_Pragma(\"GCC dependency \\\"" SECRET_FILE "\\\"\")\n",
    "#pragma GCC dependency \"" SECRET_FILE "\" look\n",
    "#pragma GCC system_header\n#include \"" SECRET_FILE "\"\n",
    "#pragma push_macro(\"CANARY\")\n#include \"" SECRET_FILE "\"\n#pragma pop_macro(\"CANARY\")\n",
    "#pragma GCC pch_preprocess \"" SECRET_FILE "\"\n",
    "#pragma once\n#embed \"" SECRET_FILE "\"\n",
    "const char all[] = {\n#embed \"" SECRET_FILE "\"\n};\n",
    "#line 1 \"" SECRET_FILE "\"\nint broken = ;\n",
    "# 1 \"" SECRET_FILE "\" 1\nint broken = ;\n",
    "#line 2 \"" SECRET_FILE "\"\nint unused_one(void) { int x; return 0; }\n",
    "__asm__(\".incbin \\\"" SECRET_FILE "\\\"\");\n",
    "__asm__(\".include \\\"" SECRET_FILE "\\\"\");\n",
    "__asm__(\".file \\\"" SECRET_FILE "\\\"\\n.loc 1 1\\n.bad\");\n",
    "__asm__(\".section .rodata\\n.incbin \\\"../../secret_folder/secret.h\\\", 0, "
    "64\\n.text\");\n",
    "__asm__(\".macro m file\\n.incbin \\\"\\\\file\\\"\\n.endm\\nm " SECRET_FILE "\");\n",
    "#include \"/proc/self/cwd/../../.." SECRET_FILE "\"\n",
    "#include \"/proc/self/root" SECRET_FILE "\"\n",
    "#include \"/dev/fd/0\"\n#include \"/dev/stdin\"\n#include \"/proc/self/fd/3\"\n",
    "#ifdef __has_embed\n#embed __FILE__\n#endif\n#include \"" SECRET_FILE "\"\n",
    "__asm__(\".section .gnu.lto_.opts,\\\"e\\\"\\n.ascii \\\"'-fplugin=" SECRET_FILE
    "'\\\"\\n.text\");\n",
    "__asm__(\".section .interp,\\\"a\\\"\\n.asciz \\\"" SECRET_FILE "\\\"\\n.text\");\n",
    "__asm__(\".section .gnu.warning.sample\\n.incbin \\\"" SECRET_FILE "\\\"\\n.text\");\n",
    "__asm__(\".section .debug_line_str,\\\"MS\\\",@progbits,1\\n.asciz \\\"" SECRET_FILE
    "\\\"\\n.text\");\n",
    "#pragma GCC optimize (\"-include\", \"" SECRET_FILE "\")\n",
    "#pragma GCC optimize (\"-fplugin=" SECRET_FILE "\")\n",
    "#pragma GCC target (\"@" SECRET_FILE "\")\n",
    "__attribute__((optimize(\"@" SECRET_FILE "\"))) int other(void) { return 1; }\n",
    "#include \"" SECRET_FILE
    "/.\"\n#include \"/tmp/secret_folder/\"\n#include \"/tmp/secret_folder\"\n",
};
enum { TRICKS = sizeof tricks / sizeof tricks[0] };

START_TEST(no_trick_shows_a_file) {
    char text[2000];
    const char *trick = tricks[_i % TRICKS];
    if (_i >= TRICKS) sample_needs_sanitizer();
    snprintf(text, sizeof text, "%s%s", trick, RIGHT);
    Trial trial;
    trial_begin(&trial, "90", text);
    make_secret();
    trial.order.any_name = true;
    trial.order.sanitize = _i >= TRICKS;
    trial_make(&trial);
    ck_assert_msg(trial.build.end == BUILD_DONE || trial.build.end == BUILD_FAILED, "%s: %d %s",
                  trick, (int)trial.build.end, trial.build.detail);
    check_unseen(&trial, trick, secret_word);
    trial_end(&trial);
}
END_TEST

// Files that every machine has, and files that the course keeps for itself.
START_TEST(neither_the_systems_files_nor_the_courses_are_seen) {
    static const struct {
        const char *path, *word;
    } files[] = {{"/etc/passwd", "root:"},
                 {"/etc/hostname", NULL},
                 {"/proc/self/environ", "LC_ALL"},
                 {"/proc/self/maps", "cc1"},
                 {"/proc/self/cmdline", "-std=c11"},
                 {"exercises/solutions/ex02_count_flops.c", "STATUS_UNKNOWN_OP"},
                 {"exercises/course/ex02_count_flops_cases.c", "draw_odd"},
                 {"layers/cost.h", "layer_cost"},
                 {"build/lab/tests/tools", "objcopy"}};
    static const char *const ways[] = {"#include \"%s\"\n", "__asm__(\".incbin \\\"%s\\\"\");\n",
                                       "#line 1 \"%s\"\nint broken = ;\n"};
    char path[400], way[500], text[2000], here[300], word[64] = "";
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    bool own = files[_i].path[0] != '/';
    snprintf(path, sizeof path, "%s%s%.80s", own ? here : "", own ? "/" : "", files[_i].path);
    if (files[_i].word)
        snprintf(word, sizeof word, "%s", files[_i].word);
    else {
        char *name = file_read(NULL, path, 60, NULL);
        snprintf(word, sizeof word, "%.*s", name ? (int)strcspn(name, "\n") : 0, name ? name : "");
        memory_free(name);
        error_clear();
        if (strlen(word) < 4) test_skip("this machine has no name");
    }
    for (int i = 0; i < 3; i++) {
        Trial trial;
        snprintf(way, sizeof way, ways[i], path);
        snprintf(text, sizeof text, "%s%s", way, RIGHT);
        trial_begin(&trial, "90", text);
        trial.order.any_name = true;
        trial_make(&trial);
        ck_assert_int_eq(trial.build.end, BUILD_FAILED);
        const char *said = trial.build.output ? trial.build.output : "";
        ck_assert_msg(!has(said, strlen(said), word), "%s: %s", way, said);
        trial_end(&trial);
    }
}
END_TEST
enum { FILES = 9 };

// Nor can it read the worker that it is linked into, not even by an assembler.
START_TEST(the_engine_is_not_there_to_be_copied) {
    static const char *const names[] = {"engine.o", "./engine.o", "worker", "control", "student.o"};
    for (int i = 0; i < 5; i++) {
        char text[2000];
        snprintf(text, sizeof text, "__asm__(\".incbin \\\"%s\\\"\");\n%s", names[i], RIGHT);
        trial_check("90", text, BUILD_FAILED, "refuses it", names[i]);
    }
}
END_TEST

// Nobody else sees the compiler's leftovers in its folder, and they go with the folder.
START_TEST(nothing_is_left) {
    Trial trial;
    char path[600];
    trial_begin(&trial, "90", "#include \"" SECRET_FILE "\"\n" RIGHT);
    make_secret();
    trial_make(&trial);
    snprintf(path, sizeof path, "%s", trial.build.room.path);
    ck_assert_int_eq(access(path, F_OK), 0);
    trial_end(&trial);
    *strrchr(path, '/') = '\0';
    ck_assert_int_ne(access(path, F_OK), 0);
    char *text = file_read(NULL, SECRET_FILE, 1000, NULL);
    ck_assert_str_eq(text, secret_text);
    memory_free(text);
}
END_TEST

// A submission or a secret where compilers may read is a mistake of the installation.
START_TEST(a_place_that_compilers_read_is_refused) {
    Trial trial;
    trial_begin(&trial, "90", RIGHT);
    static const char *const shut[] = {"/usr/include/stdio.h", NULL};
    trial.order.shut = shut;
    trial_make(&trial);
    ck_assert_int_eq(trial.build.end, BUILD_MACHINE);
    ck_assert_ptr_nonnull(strstr(trial.build.detail, "lies in it"));
    trial_end(&trial);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{no_trick_shows_a_file, 2 * TRICKS},
                                 {neither_the_systems_files_nor_the_courses_are_seen, FILES},
                                 {the_engine_is_not_there_to_be_copied, 0},
                                 {nothing_is_left, 0},
                                 {a_place_that_compilers_read_is_refused, 0},
                                 {NULL, 0}};
    return trial_main("build_secrets", tests);
}
