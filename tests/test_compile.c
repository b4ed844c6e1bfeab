// test_compile.c -- from a student's file to an object: what is compiled, what is refused and in
// which words, what of the object is visible; and every hostile file, as far as compiling goes.
#include "exercises/grader/compile.h"
#include "exercises/grader/compile_parts.h"
#include "tensor/memory.h"
#include "tests/harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- a toolchain and an exercise ---------------------------------------------------------------
static char headers[] = "/tmp/compile-test-XXXXXX", header[64], student[64];
static Toolchain toolchain;

static void find_tool(const char *name, char path[512]) {
    static const char *const folders[] = {"/usr/bin", "/usr/local/bin", "/bin"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, 512, "%s/%s", folders[i], name);
        if (access(path, X_OK) == 0) return;
    }
    path[0] = '\0';
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void make_toolchain(void) {
    static char define[] = "-D_GNU_SOURCE";
    if (!mkdtemp(headers) || chmod(headers, 0755) != 0) abort();
    snprintf(header, sizeof header, "%s/lesson.h", headers);
    snprintf(student, sizeof student, "%s/student.c", headers);
    FILE *file = fopen(header, "w");
    if (!file) abort();
    fputs("int layer_attribute(const void *layer, const char *name, long *value);\n", file);
    fclose(file);
    find_tool("gcc", toolchain.compiler);
    find_tool("objcopy", toolchain.objcopy);
    toolchain.cflags[0] = define;
    snprintf(toolchain.headers, sizeof toolchain.headers, "%s", headers);
}

static void remove_toolchain(void) {
    unlink(student);
    unlink(header);
    rmdir(headers);
}

static const char *const symbols[] = {"layer_attribute", "strcmp",  "malloc",
                                      "calloc",          "realloc", "free",
                                      "clock_gettime",   "mock_*",  NULL};
static const Exercise lesson = {
    .number = "02", .name = "count_flops", .function = "count_flops", .symbols = symbols};

typedef struct Try {
    CompileRequest request;
    CompileResult result;
    char folder[256];
} Try;

static void begin(Try *try, const char *text) {
    memset(try, 0, sizeof *try);
    if (!toolchain.compiler[0] || !toolchain.objcopy[0])
        test_skip("a compiler or objcopy is missing");
    if (geteuid() == 0 && !(contain_layers() & LAYER_USER)) test_skip("root, and no other user");
    ck_assert_int_eq(contain_directory_new(try->folder, sizeof try->folder), STATUS_OK);
    if (text) write_text(student, text);
    try->request = (CompileRequest){
        .toolchain = &toolchain, .exercise = &lesson, .file = student, .folder = try->folder};
}

static void compile(Try *try) {
    Status status = compile_student(&try->request, &try->result);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
}

static void end(Try *try) {
    compile_result_free(&try->result);
    ck_assert_int_eq(contain_directory_remove(try->folder), STATUS_OK);
}

static void check_end(const char *text, CompileEnd wanted, const char *detail) {
    Try try;
    begin(&try, text);
    compile(&try);
    ck_assert_msg(try.result.end == wanted && strstr(try.result.detail, detail),
                  "%s: end %d, %s, not %d, %s", text, try.result.end, try.result.detail, wanted,
                  detail);
    end(&try);
}

// ---- what is right -----------------------------------------------------------------------------
static const char right[] =
    "#include \"lesson.h\"\n"
    "#include <math.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#include <time.h>\n"
    "int helper(int x) { struct timespec t; return clock_gettime(CLOCK_MONOTONIC, &t) + x; }\n"
    "int data = 5;\n"
    "\n"
    "int count_flops(const void *layer, long *flops) {\n"
    "    int *block = malloc(4096);\n"
    "    memset(block, helper(data), 4096);\n"
    "    *flops = block[100] + (long)pow(block[1], block[2]);\n"
    "    free(block);\n"
    "    return layer_attribute(layer, \"in_features\", flops);\n"
    "}\n";

static bool has_symbol(const Object *object, const char *name, bool defined, int bind) {
    for (size_t i = 1; i < object->n_symbols; i++) {
        const Elf64_Sym *symbol = &object->symbols[i];
        if (strcmp(object_symbol_name(object, i), name) == 0 &&
            (symbol->st_shndx != SHN_UNDEF) == defined && ELF64_ST_BIND(symbol->st_info) == bind)
            return true;
    }
    return false;
}

START_TEST(a_right_file_becomes_a_closed_object) {
    Try try;
    find_tool(_i ? "clang" : "gcc", toolchain.compiler);
    begin(&try, right);
    compile(&try);
    ck_assert_msg(try.result.end == COMPILE_DONE, "%s", try.result.detail);
    ck_assert_int_eq(try.result.line, 9);
    ck_assert_ptr_null(try.result.output);
    Object object;
    ck_assert_int_eq(object_read(try.result.object, &object), STATUS_OK);
    ck_assert(has_symbol(&object, "count_flops", true, STB_GLOBAL));
    ck_assert(has_symbol(&object, "helper", true, STB_LOCAL));
    ck_assert(has_symbol(&object, "data", true, STB_LOCAL));
    ck_assert(has_symbol(&object, "lab_malloc", false, STB_GLOBAL));
    ck_assert(has_symbol(&object, "lab_free", false, STB_GLOBAL));
    ck_assert(has_symbol(&object, "lab_clock_gettime", false, STB_GLOBAL));
    ck_assert(has_symbol(&object, "layer_attribute", false, STB_GLOBAL));
    ck_assert(!has_symbol(&object, "malloc", false, STB_GLOBAL));
    object_free(&object);
    end(&try);
}
END_TEST

START_TEST(warnings_are_passed_on) {
    Try try;
    begin(&try, "int count_flops(void) { int unused; return 0; }\n");
    compile(&try);
    ck_assert_int_eq(try.result.end, COMPILE_DONE);
    ck_assert_ptr_nonnull(strstr(try.result.output, "ex02_count_flops.c:1:"));
    ck_assert_ptr_nonnull(strstr(try.result.output, "unused"));
    end(&try);
}
END_TEST

START_TEST(several_functions_may_be_wanted) {
    Try try;
    Exercise two = lesson;
    two.function = "count_flops other";
    begin(&try, "int count_flops(void) { return 0; }\nint other(void) { return 1; }\n");
    try.request.exercise = &two;
    compile(&try);
    ck_assert_int_eq(try.result.end, COMPILE_DONE);
    Object object;
    ck_assert_int_eq(object_read(try.result.object, &object), STATUS_OK);
    ck_assert(has_symbol(&object, "count_flops", true, STB_GLOBAL));
    ck_assert(has_symbol(&object, "other", true, STB_GLOBAL));
    object_free(&object);
    compile_result_free(&try.result);
    write_text(student, "int count_flops(void) { return 0; }\n");
    compile(&try);
    ck_assert_int_eq(try.result.end, COMPILE_FAILED);
    ck_assert_ptr_nonnull(strstr(try.result.detail, "other is not defined"));
    end(&try);
}
END_TEST

START_TEST(the_sanitizer_is_no_constructor_of_theirs) {
    Try try;
    begin(&try, right);
    try.request.sanitize = true;
    compile(&try);
    ck_assert_msg(try.result.end == COMPILE_DONE, "%s %s", try.result.detail, try.result.output);
    end(&try);
}
END_TEST

START_TEST(without_a_list_any_symbol_will_do) {
    Try try;
    begin(&try, "int system(const char *);\nint count_flops(void) { return system(\"true\"); }\n");
    try.request.any_symbol = true;
    compile(&try);
    ck_assert_int_eq(try.result.end, COMPILE_DONE);
    end(&try);
}
END_TEST

// ---- what is wrong -----------------------------------------------------------------------------
START_TEST(what_is_wrong_is_named) {
    static const struct {
        const char *text;
        CompileEnd end;
        const char *detail;
    } files[] = {
        {"int count_flops(void) { return 0 }\n", COMPILE_FAILED, "error: expected"},
        {"", COMPILE_FAILED, "count_flops is not defined"},
        {"static int count_flops(void) { return 0; }\nint (*p)(void) = count_flops;\n",
         COMPILE_FAILED, "count_flops is not defined"},
        {"int count_flops = 5;\n", COMPILE_FAILED, "count_flops is not defined"},
        {"#include \"missing.h\"\n", COMPILE_FAILED, "missing.h"},
        {"#include \"/dev/zero\"\n", COMPILE_FAILED, ""},
        {"#include \"../../etc/passwd\"\n", COMPILE_FORBIDDEN, "etc/passwd"},
        {"#include \"/etc/passwd\"\n", COMPILE_FORBIDDEN, "includes /etc/passwd"},
        {"#include \"/usr/include/../../etc/passwd\"\n", COMPILE_FORBIDDEN, "etc/passwd"},
        {"int system(const char *);\nint count_flops(void) { return system(\"\"); }\n",
         COMPILE_FORBIDDEN, "symbol system"},
        {"int x(void) __asm__(\"a b\");\nint count_flops(void) { return x(); }\n", COMPILE_FAILED,
         "Error"},
        {"int count_flops(void) { __asm__(\"nop\"); return 0; }\n", COMPILE_FORBIDDEN,
         "inline assembly"},
        {"int malloc;\nint count_flops(void) { return malloc; }\n", COMPILE_FORBIDDEN, "malloc"},
        {"int cblas_sgemm(void) { return 0; }\nint count_flops(void) { return 0; }\n",
         COMPILE_FORBIDDEN, "cblas_sgemm"},
        {"__attribute__((section(\"own\"))) int a;\nint count_flops(void) { return a; }\n",
         COMPILE_FORBIDDEN, "section own"},
    };
    check_end(files[_i].text, files[_i].end, files[_i].detail);
    ck_assert_int_le(_i, (int)(sizeof files / sizeof files[0]) - 1);
}
END_TEST
enum { WRONG_FILES = 15 };

START_TEST(a_file_that_is_none_is_refused) {
    Try try;
    begin(&try, NULL);
    try.request.file = "/nonexistent/file.c";
    compile(&try);
    ck_assert_int_eq(try.result.end, COMPILE_NO_FILE);
    try.request.file = headers;
    compile(&try);
    ck_assert_int_eq(try.result.end, COMPILE_FAILED);
    char link[300];
    snprintf(link, sizeof link, "%s/link.c", try.folder);
    ck_assert_int_eq(symlink("/etc/passwd", link), 0);
    try.request.file = link; // what it leads to may be read by the grader and by nobody else
    compile(&try);
    ck_assert_int_eq(try.result.end, COMPILE_FAILED);
    end(&try);
}
END_TEST

START_TEST(names_in_the_text_are_no_assembly) {
    check_end(
        "const char *count_flops(void) { return \"#APP\\n.incbin \\\"x\\\"\\n syscall ; int\"; }\n",
        COMPILE_DONE, "");
    check_end("static int incbin, syscall = 3;\n"
              "int count_flops(int x) { switch (x) { case 0: return 5; case 1: return incbin;"
              " case 2: return syscall; case 3: return 9; case 4: return 2; case 5: return 77; }"
              " return 1.5 * x; }\n",
              COMPILE_DONE, "");
}
END_TEST

// ---- objects -----------------------------------------------------------------------------------
// Any byte of it may be wrong: it is refused, or read without leaving its memory (run with asan).
START_TEST(a_broken_object_is_read_with_care) {
    Try try;
    begin(&try, right);
    compile(&try);
    size_t size;
    char *bytes = compile_read(try.result.object, 1 << 20, &size), path[300];
    ck_assert_ptr_nonnull(bytes);
    snprintf(path, sizeof path, "%s/broken.o", try.folder);
    uint64_t random = 12345;
    for (int i = 0; i < 2000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        // Headers of the file and of its sections, where all the offsets are.
        size_t table = (size_t)((Elf64_Ehdr *)(void *)bytes)->e_shoff;
        size_t at =
            (random >> 20) % 2 ? (random >> 33) % 64 : table + (random >> 33) % (size - table);
        char old = bytes[at];
        bytes[at] = (char)(random >> 56);
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        fwrite(bytes, 1, i % 3 ? size : (random >> 40) % size, file);
        fclose(file);
        bytes[at] = old;
        Object object;
        CompileResult result = {0};
        if (object_read(path, &object) == STATUS_OK) judge_object(&try.request, &object, &result);
        error_clear();
        object_free(&object);
    }
    memory_free(bytes);
    end(&try);
}
END_TEST

// ---- hostile files -----------------------------------------------------------------------------
static void check_hostile(const char *path, bool any_symbol, bool forbidden) {
    Try try;
    begin(&try, NULL);
    try.request.file = path;
    try.request.any_symbol = any_symbol;
    compile(&try);
    ck_assert_msg(try.result.end == (forbidden ? COMPILE_FORBIDDEN : COMPILE_DONE),
                  "%s%s: end %d, %s, %s", path, any_symbol ? ", any symbol" : "", try.result.end,
                  try.result.detail, try.result.output);
    if (forbidden) ck_assert_str_ne(try.result.detail, "");
    end(&try);
}

static int is_source(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 2 && strcmp(entry->d_name + length - 2, ".c") == 0;
}

// Every eighth of them. The first line says "forbidden" where the list of symbols refuses a file,
// and says it three times where something else does.
enum { PARTS = 8 };
START_TEST(hostile_files_are_refused_as_they_say) {
    struct dirent **entries;
    int count = scandir("exercises/hostile", &entries, is_source, alphasort);
    if (count < 0) test_skip("exercises/hostile is not here");
    ck_assert_int_ge(count, 40);
    for (int i = 0; i < count; i++) {
        char path[300], line[128];
        snprintf(path, sizeof path, "exercises/hostile/%s", entries[i]->d_name);
        free(entries[i]);
        if (i % PARTS != _i) continue;
        FILE *file = fopen(path, "r");
        ck_assert_ptr_nonnull(file);
        ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
        fclose(file);
        static const char once[] = "// hostile: forbidden, ", more[] = "forbidden, forbidden ";
        bool refused = strncmp(line, once, strlen(once)) == 0;
        check_hostile(path, false, refused);
        if (refused)
            check_hostile(path, true, strncmp(line + strlen(once), more, strlen(more)) == 0);
    }
    free(entries);
}
END_TEST

START_TEST(no_memory_is_an_error) {
    int failed = 0;
    for (uint64_t nth = 1;; nth++) {
        Try try;
        begin(&try, right);
        memory_fail_at(nth);
        Status status = compile_student(&try.request, &try.result);
        memory_fail_at(0);
        bool done = status == STATUS_OK;
        if (!done) ck_assert_int_eq(status, STATUS_OUT_OF_MEMORY);
        error_clear();
        end(&try);
        if (done) break;
        failed++;
    }
    ck_assert_int_ge(failed, 10);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{a_right_file_becomes_a_closed_object, 2},
                                 {warnings_are_passed_on, 0},
                                 {several_functions_may_be_wanted, 0},
                                 {the_sanitizer_is_no_constructor_of_theirs, 0},
                                 {without_a_list_any_symbol_will_do, 0},
                                 {what_is_wrong_is_named, WRONG_FILES},
                                 {a_file_that_is_none_is_refused, 0},
                                 {names_in_the_text_are_no_assembly, 0},
                                 {a_broken_object_is_read_with_care, 0},
                                 {hostile_files_are_refused_as_they_say, PARTS},
                                 {no_memory_is_an_error, 0},
                                 {NULL, 0}};
    make_toolchain();
    int status = harness_main("compile", tests);
    remove_toolchain();
    return status;
}
