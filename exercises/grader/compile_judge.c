// compile_judge.c -- what in a student's file is refused before anything of it runs: foreign files
// that it includes, assembly, sections that run by themselves, names that are not its own.
#include "exercises/grader/compile_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool compile_refuse(CompileResult *result, CompileEnd end, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->detail, sizeof result->detail, format, arguments);
    va_end(arguments);
    text_clean(result->detail);
    result->end = end;
    return false;
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

// ---- includes ----------------------------------------------------------------------------------
static bool is_below(const char *path, const char *folder) {
    size_t length = strlen(folder);
    return length > 0 && begins(path, folder) && path[length] == '/';
}

static bool is_system(const char *path) {
    static const char *const folders[] = {"/usr/include/", "/usr/local/include/", "/usr/lib/gcc/",
                                          "/usr/lib/clang/", "/usr/lib/llvm-"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (begins(path, folders[i])) return true;
    return false;
}

// Where `path` leads by its dots is asked of the file system; a relative one is of the private
// folder, where there is nothing but the file itself.
static bool may_include(const CompileRequest *request, const char *path) {
    char *real = strstr(path, "..") ? realpath(path, NULL) : NULL;
    const char *known = real ? real : path;
    bool allowed =
        known[0] != '/' || is_below(known, request->toolchain->headers) || is_system(known);
    allowed = allowed && !strstr(known, "..");
    free(real);
    return allowed;
}

// The compiler's -H says each included file in a line of its own: dots, a space, the path. Takes
// these lines out of the output.
bool judge_includes(const CompileRequest *request, char *output, CompileResult *result) {
    char *kept = output;
    bool allowed = true;
    for (char *line = output, *next; *line; line = next) {
        size_t length = strcspn(line, "\n"), dots = strspn(line, ".");
        next = line + length + (line[length] == '\n');
        if (begins(line, "Multiple include guards may be useful for:")) break;
        if (dots > 0 && line[dots] == ' ') {
            char path[1024];
            snprintf(path, sizeof path, "%.*s", (int)(length - dots - 1), line + dots + 1);
            if (allowed && !may_include(request, path))
                allowed = compile_refuse(result, COMPILE_FORBIDDEN, "includes %s", path);
            continue;
        }
        memmove(kept, line, (size_t)(next - line));
        kept += next - line;
    }
    *kept = '\0';
    return allowed;
}

// ---- assembly ----------------------------------------------------------------------------------
static bool begins_with_any(const char *line, const char *const *words) {
    for (int i = 0; words[i]; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(line, words[i], length) == 0 &&
            !strchr("_.", line[length] ? line[length] : 'x') && strcspn(line, " \t\n") == length)
            return true;
    }
    return false;
}

// Whether what follows this line is executed; `before`: as it was.
static bool is_code(const char *line, bool before) {
    size_t length = strcspn(line, "\n");
    if (begins(line, ".text")) return true;
    if (begins(line, ".data") || begins(line, ".bss")) return false;
    if (!begins(line, ".section")) return before;
    const char *flags = memchr(line, '"', length);
    const char *name = line + strcspn(line, " \t");
    name += strspn(name, " \t\"");
    const char *end = flags ? memchr(flags + 1, '"', length - (size_t)(flags + 1 - line)) : NULL;
    return begins(name, ".text") || (end && memchr(flags, 'x', (size_t)(end - flags)));
}

// Names of sections and symbols reach the assembler as they are written, line ends and all: so the
// text of the assembler is searched for what no C compiler writes, not the C text.
static const char *foreign(const char *line, bool code) {
    static const char *const directives[] = {".incbin",      ".include",    ".macro",
                                             ".rept",        ".irp",        ".irpc",
                                             ".pushsection", ".popsection", ".previous",
                                             ".subsection",  ".altmacro",   NULL};
    static const char *const data[] = {".byte",  ".value",  ".word",   ".short", ".hword", ".long",
                                       ".int",   ".quad",   ".xword",  ".octa",  ".2byte", ".4byte",
                                       ".8byte", ".inst",   ".string", ".ascii", ".asciz", ".fill",
                                       ".float", ".double", ".single", NULL};
    static const char *const calls[] = {"syscall", "sysenter", "int", "svc", "hvc", "sysret", NULL};
    if (begins(line, "#APP") || begins(line, "//APP")) return "inline assembly";
    if (begins(line, "# Start of file scope inline assembly")) return "inline assembly"; // clang
    if (begins_with_any(line, directives)) return "an assembler directive";
    if (code && begins_with_any(line, data)) return "data among instructions";
    if (code && begins_with_any(line, calls)) return "a system call of its own";
    return NULL;
}

// Several statements may share a line.
bool judge_assembly(const char *assembly, CompileResult *result) {
    bool code = true, quoted = false;
    for (const char *line = assembly; *line;) {
        line += strspn(line, " \t;\n");
        const char *what = foreign(line, code);
        if (what) return compile_refuse(result, COMPILE_FORBIDDEN, "%s", what);
        code = is_code(line, code);
        for (; *line && *line != '\n' && (quoted || *line != ';'); line++) {
            if (*line == '\\' && line[1])
                line++;
            else if (*line == '"')
                quoted = !quoted;
        }
        if (*line == '\n') quoted = false;
    }
    return true;
}

// ---- object ------------------------------------------------------------------------------------
static bool is_plain_section(const char *name) {
    static const char *const plain[] = {".text",  ".data", ".rodata",   ".bss",
                                        ".tdata", ".tbss", ".eh_frame", ".note.gnu.property",
                                        NULL};
    for (int i = 0; plain[i]; i++) {
        size_t length = strlen(plain[i]);
        if (begins(name, plain[i]) && (name[length] == '\0' || name[length] == '.')) return true;
    }
    return false;
}

// AddressSanitizer registers each object with one constructor of this priority.
static bool is_sanitizer_section(const char *name, size_t size) {
    bool runs = strcmp(name, ".init_array.00099") == 0 || strcmp(name, ".fini_array.00099") == 0;
    return (runs && size <= sizeof(void *)) || begins(name, "asan_globals");
}

static bool judge_sections(const CompileRequest *request, const Object *object,
                           CompileResult *result) {
    for (size_t i = 1; i < object->n_sections; i++) {
        const Elf64_Shdr *section = &object->sections[i];
        const char *name = object_section_name(object, i);
        if (!(section->sh_flags & SHF_ALLOC)) continue;
        if (request->sanitize && is_sanitizer_section(name, section->sh_size)) continue;
        bool both = (section->sh_flags & SHF_WRITE) && (section->sh_flags & SHF_EXECINSTR);
        if (!is_plain_section(name) || both)
            return compile_refuse(result, COMPILE_FORBIDDEN, "section %s", name);
    }
    return true;
}

static bool is_plain_name(const char *name) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";
    return name[strspn(name, letters)] == '\0';
}

static bool judge_symbol(const CompileRequest *request, const Object *object, size_t index,
                         CompileResult *result) {
    const Elf64_Sym *symbol = &object->symbols[index];
    const char *name = object_symbol_name(object, index);
    unsigned char type = ELF64_ST_TYPE(symbol->st_info), bind = ELF64_ST_BIND(symbol->st_info);
    if (name[0] == '\0' || type == STT_FILE || type == STT_SECTION) return true;
    if (!is_plain_name(name))
        return compile_refuse(result, COMPILE_FORBIDDEN, "a strange symbol: %s", name);
    if (type == STT_GNU_IFUNC)
        return compile_refuse(result, COMPILE_FORBIDDEN, "indirect function %s", name);
    if (symbol->st_shndx == SHN_UNDEF)
        return compile_may_use(request, name) ||
               compile_refuse(result, COMPILE_FORBIDDEN, "symbol %s", name);
    if (bind == STB_LOCAL || compile_is_wanted(request->exercise, name)) return true;
    if (request->sanitize && begins(name, "__odr_asan.")) return true;
    return !compile_is_taken(name) ||
           compile_refuse(result, COMPILE_FORBIDDEN,
                          "defines %s, a name of the library (make it static)", name);
}

static bool defines(const Object *object, const char *name, size_t length) {
    for (size_t i = 1; i < object->n_symbols; i++) {
        const Elf64_Sym *symbol = &object->symbols[i];
        const char *found = object_symbol_name(object, i);
        if (strncmp(found, name, length) == 0 && found[length] == '\0' &&
            symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
            ELF64_ST_BIND(symbol->st_info) != STB_LOCAL)
            return true;
    }
    return false;
}

bool judge_object(const CompileRequest *request, const Object *object, CompileResult *result) {
    if (!judge_sections(request, object, result)) return false;
    for (size_t i = 1; i < object->n_symbols; i++)
        if (!judge_symbol(request, object, i, result)) return false;
    const char *word;
    size_t length;
    for (int i = 0; (length = compile_word(request->exercise->function, i, &word)) > 0; i++)
        if (!defines(object, word, length))
            return compile_refuse(result, COMPILE_FAILED,
                                  "%.*s is not defined: is it misspelt, or static?", (int)length,
                                  word);
    return true;
}
