// compile.c -- compiles a student's file in steps, each a contained run: to assembly, which is
// judged; to an object, which is judged; to an object of which only the wanted functions are seen.
#include "exercises/grader/compile.h"
#include "exercises/grader/compile_parts.h"
#include "profiler/files/whole_file.h"
#include "tensor/memory.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SOURCE = 1 << 20, MOST_ASSEMBLY = 32 << 20, MOST_WORDS = 128, MOST_NAME = 128 };

typedef struct Compilation {
    const CompileRequest *request;
    CompileResult *result;
    char source[MOST_NAME], assembly[MOST_NAME], whole[MOST_NAME], object[MOST_NAME];
} Compilation;

typedef struct Words { // a command line
    const char *word[MOST_WORDS];
    int count;
} Words;

static void add(Words *words, const char *word) {
    if (words->count < MOST_WORDS - 1) words->word[words->count++] = word;
    words->word[words->count] = NULL;
}

static void path_in(const Compilation *self, const char *name, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/%s", self->request->folder, name);
}

static Status run(const Compilation *self, const Words *words, ContainResult *ran) {
    const ContainCommand command = {.argv = words->word,
                                    .directory = self->request->folder,
                                    .limits = {.wall_seconds = 20,
                                               .cpu_seconds = 10,
                                               .memory_bytes = INT64_C(2) << 30,
                                               .file_bytes = MOST_ASSEMBLY,
                                               .output_bytes = 128 << 10,
                                               .processes = 16},
                                    .without = self->request->without | LAYER_SECCOMP};
    return contain_run(&command, ran);
}

// ---- the source --------------------------------------------------------------------------------
// What an earlier compilation left belongs to us, and the compiler is another user; nor shall
// anything be written through a link.
static Status clear_folder(const Compilation *self, bool *well) {
    const char *const names[] = {self->source, self->assembly, self->whole, self->object};
    int folder = open(self->request->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (size_t i = 0; folder >= 0 && i < sizeof names / sizeof names[0]; i++)
        (void)unlinkat(folder, names[i], 0);
    if (folder >= 0) close(folder);
    *well = true;
    return STATUS_OK;
}

// False: there is none, and the result says so.
static Status copy_source(const Compilation *self, bool *there) {
    const CompileRequest *request = self->request;
    struct stat found;
    *there = request->file && lstat(request->file, &found) == 0;
    if (!*there) {
        compile_refuse(self->result, COMPILE_NO_FILE, "there is no such file");
        return STATUS_OK;
    }
    *there = S_ISREG(found.st_mode) && found.st_size <= MOST_SOURCE;
    if (!*there) {
        compile_refuse(self->result, COMPILE_FAILED, "it is no plain file of at most %d bytes",
                       MOST_SOURCE);
        return STATUS_OK;
    }
    size_t size;
    char path[PATH_MAX], *text = compile_read(request->file, MOST_SOURCE, &size);
    if (!text) return error_status();
    path_in(self, self->source, path);
    WholeFile *file = whole_file_open(path);
    if (file) whole_file_write(file, text, size);
    memory_free(text);
    Status status = file ? whole_file_close(file) : error_status();
    if (status == STATUS_OK && chmod(path, 0644) != 0)
        return error_set(STATUS_IO, "cannot open '%s' to the compiler. HINT: set TMPDIR", path);
    return status;
}

// Another user compiles: what is wrong with the project's folder must not be a student's fault.
static Status check_headers(const CompileRequest *request) {
    char path[PATH_MAX];
    bool other = contain_layers() & ~request->without & LAYER_USER;
    snprintf(path, sizeof path, "%s", request->toolchain->headers);
    for (char *end = path + strlen(path); other && end && end != path; end = strrchr(path, '/')) {
        *end = '\0';
        struct stat found;
        if (stat(path, &found) == 0 && (found.st_mode & S_IXOTH)) continue;
        return error_set(
            STATUS_STATE,
            "the compiler runs as another user, who cannot enter '%s'. HINT: chmod o+x "
            "it, or put the project where others may read",
            path);
    }
    return STATUS_OK;
}

// ---- steps -------------------------------------------------------------------------------------
// Where the compiler did not succeed: its first error, or how it ended.
static void refuse_output(CompileResult *result, const ContainResult *ran, const char *text) {
    const char *error = strstr(text, "error:");
    if (ran->end == CONTAIN_TIMED_OUT)
        compile_refuse(result, COMPILE_FAILED, "compiling it takes too long");
    else if (ran->end == CONTAIN_FLOODED)
        compile_refuse(result, COMPILE_FAILED, "the compiler has too much to say about it");
    else if (error)
        compile_refuse(result, COMPILE_FAILED, "%.*s", (int)strcspn(error, "\n"), error);
    else
        compile_refuse(result, COMPILE_FAILED, "the compiler failed");
}

static bool ended_well(const ContainResult *ran) {
    return ran->end == CONTAIN_EXITED && ran->code == 0;
}

static Status to_assembly(const Compilation *self, bool *well) {
    const CompileRequest *request = self->request;
    CompileResult *result = self->result;
    Words words = {.count = 0};
    static const char *const flags[] = {"-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-H"};
    add(&words, request->toolchain->compiler);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) add(&words, flags[i]);
    for (int i = 0; request->toolchain->cflags[i]; i++) add(&words, request->toolchain->cflags[i]);
    if (request->sanitize) add(&words, "-fsanitize=address");
    add(&words, "-I");
    add(&words, request->toolchain->headers);
    add(&words, "-S");
    add(&words, "-o");
    add(&words, self->assembly);
    add(&words, self->source);
    ContainResult ran;
    Status status = run(self, &words, &ran);
    if (status == STATUS_OK) {
        *well = judge_includes(request, ran.output, result);
        if (*well && !ended_well(&ran)) refuse_output(result, &ran, ran.output);
        // What a forbidden file says in a message is not passed on.
        if (*well && ran.output[0]) result->output = ran.output;
        if (result->output) ran.output = NULL;
        *well = *well && ended_well(&ran);
    }
    contain_result_free(&ran);
    return status;
}

// The line of the function: that of the first place in its code that the debugger is told.
static void find_line(const char *assembly, const Exercise *exercise, CompileResult *result) {
    const char *name;
    char label[MOST_NAME];
    size_t length = compile_word(exercise->function, 0, &name);
    snprintf(label, sizeof label, "\n%.*s:", (int)length, name);
    const char *at = strstr(assembly, label);
    at = at ? strstr(at, "\t.loc\t") ? strstr(at, "\t.loc\t") : strstr(at, "\t.loc ") : NULL;
    long file, line;
    if (at && sscanf(at, " .loc %ld %ld", &file, &line) == 2) result->line = (int)line;
}

static Status check_assembly(const Compilation *self, bool *well) {
    char path[PATH_MAX];
    path_in(self, self->assembly, path);
    char *assembly = compile_read(path, MOST_ASSEMBLY, NULL);
    if (!assembly) return error_status();
    *well = judge_assembly(assembly, self->result);
    find_line(assembly, self->request->exercise, self->result);
    memory_free(assembly);
    return STATUS_OK;
}

// For tools that cannot fail because of a student: that is the grader's own failure.
static Status run_tool(const Compilation *self, const Words *words, bool *well) {
    ContainResult ran;
    Status status = run(self, words, &ran);
    if (status == STATUS_OK && !ended_well(&ran))
        *well = compile_refuse(self->result, COMPILE_FAILED, "%.100s", ran.output);
    contain_result_free(&ran);
    return status;
}

static Status to_object(const Compilation *self, bool *well) {
    Words words = {.count = 0};
    const char *const all[] = {self->request->toolchain->compiler, "-c", "-o", self->whole,
                               self->assembly};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) add(&words, all[i]);
    return run_tool(self, &words, well);
}

static Status check_object(const Compilation *self, bool *well) {
    char path[PATH_MAX];
    Object object;
    path_in(self, self->whole, path);
    Status status = object_read(path, &object);
    if (status == STATUS_OK) *well = judge_object(self->request, &object, self->result);
    object_free(&object);
    return status;
}

static Status to_closed_object(const Compilation *self, bool *well) {
    char keep[8][MOST_NAME], redirect[32][MOST_NAME];
    Words words = {.count = 0};
    const char *word;
    size_t length;
    add(&words, self->request->toolchain->objcopy);
    for (int i = 0; i < 8; i++) {
        length = compile_word(self->request->exercise->function, i, &word);
        if (length == 0) break;
        snprintf(keep[i], MOST_NAME, "--keep-global-symbol=%.*s", (int)length, word);
        add(&words, keep[i]);
    }
    for (int i = 0; compile_redirected[i] && i < 32; i++) {
        const char *name = compile_redirected[i];
        snprintf(redirect[i], MOST_NAME, "--redefine-sym=%s=lab_%s", name, name);
        add(&words, redirect[i]);
    }
    add(&words, self->whole);
    add(&words, self->object);
    return run_tool(self, &words, well);
}

Status compile_student(const CompileRequest *request, CompileResult *result) {
    static Status (*const steps[])(const Compilation *, bool *) = {clear_folder,    copy_source,
                                                                   to_assembly,     check_assembly,
                                                                   to_object,       check_object,
                                                                   to_closed_object};
    memset(result, 0, sizeof *result);
    Compilation self = {.request = request, .result = result};
    const Exercise *exercise = request->exercise;
    char stem[MOST_NAME / 2];
    snprintf(stem, sizeof stem, "ex%s_%s", exercise->number, exercise->name);
    snprintf(self.source, MOST_NAME, "%s.c", stem);
    snprintf(self.assembly, MOST_NAME, "%s.s", stem);
    snprintf(self.whole, MOST_NAME, "%s.whole.o", stem);
    snprintf(self.object, MOST_NAME, "%s.o", stem);
    int length =
        snprintf(result->object, sizeof result->object, "%s/%s", request->folder, self.object);
    if (length < 0 || (size_t)length >= sizeof result->object)
        return error_set(STATUS_INVALID_ARGUMENT, "TMPDIR is too long. HINT: unset it");
    bool well = true;
    Status status = check_headers(request);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && well && status == STATUS_OK; i++)
        status = steps[i](&self, &well);
    return status;
}

void compile_result_free(CompileResult *result) {
    memory_free(result->output);
    result->output = NULL;
}
