// fuzz_class.c -- descriptions of a class: rosters, names, points, a Gradescope export, names of
// files. For any input members have names that can be folders, or there is one message.
#include <string.h>

#include "exercises/instructor/submissions.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzz.h"

static void check(const Class *class) {
    promise(class->count >= 0 && class->count <= class->capacity);
    for (int i = 0; i < class->count; i++) {
        const Member *member = &class->members[i];
        promise(memchr(member->student, '\0', CLASS_NAME) && member->student[0] != '\0');
        promise(member->folder[0] != '\0' && member->folder[0] != '.');
        promise(!strchr(member->folder, '/') && !strchr(member->name, '\n'));
        promise(member->written >= WRITTEN_NONE && member->written <= 1000);
    }
}

static void take_export(void *argument, const char *folder, const char *email, const char *name) {
    size_t *bytes = argument;
    *bytes += strlen(folder) + strlen(email) + strlen(name);
}

static void take_entry(const char *text) {
    for (int folder = 0; folder < 2; folder++) {
        EntryName name = entry_name(text, folder);
        promise(memchr(name.student, '\0', CLASS_NAME) && memchr(name.file, '\0', ENTRY_FILE));
        size_t begins;
        if (asked_ends_in(text, &begins)) promise(begins <= strlen(text));
        asked_is_litter(text);
    }
}

static void take_class(char kind, const char *path, const char *text, uint64_t failing) {
    Class class = {.possible = WRITTEN_NONE};
    promise(class_add_names(&class, "ada bob") == STATUS_OK);
    for (int i = 0; i < class.count; i++) // looks the sender up on the roster
        promise(class_add_part(&class.members[i], "x", "x") == STATUS_OK);
    memory_fail_at(failing);
    Status status = kind == 0   ? class_add_roster(&class, path)
                    : kind == 1 ? class_add_written(&class, path)
                                : class_add_names(&class, text);
    memory_fail_at(0);
    if (status) promise_error(status);
    if (!status) check(&class);
    class_free(&class);
    promise_clean();
}

// The first byte selects the kind of input.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    size_t sum = 0;
    if (size == 0) return 0;
    FuzzFile file = fuzz_file(bytes + 1, size - 1);
    char *text = fuzz_text(bytes + 1, size - 1), kind = (char)(bytes[0] % 5);
    if (kind < 3) {
        take_class(kind, file.path, text, 0);
        take_class(kind, file.path, text, 1 + size % 9);
    } else if (kind == 3) {
        export_each(text, take_export, &sum);
    } else {
        take_entry(text);
    }
    free(text);
    fuzz_file_end(&file);
    return 0;
}
