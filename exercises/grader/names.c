// names.c -- what may be called: all of the C library that computes, compares, sorts, allocates,
// prints or reads a clock, and of the engine what the contracts name.
#include "exercises/grader/build_parts.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const char names_allowed_text[] =
    "You may call what computes, compares, sorts, allocates, prints or\n"
    "reads a clock, of string.h, ctype.h, math.h, stdlib.h (malloc,\n"
    "qsort, strtol, exit ...), stdio.h (printf, fprintf(stderr),\n"
    "snprintf ...), time.h, assert.h, setjmp.h; and what the contract\n"
    "names.\n";

enum { MOST_PARAMETERS = 2000 }; // letters

// Words between spaces; a * at the end stands for all that begin so.
static const char *const allowed[] = {
    // string.h, strings.h, ctype.h, errno.h
    "memcpy memmove memset memcmp memchr memrchr memmem mempcpy memccpy bcmp bcopy bzero",
    "strcmp strncmp strcasecmp strncasecmp strcoll strlen strnlen strchr strrchr strchrnul strstr",
    "strcasestr strspn strcspn strpbrk strcpy strncpy stpcpy stpncpy strcat strncat strtok "
    "strtok_r",
    "strsep strdup strndup strerror strerror_r __xpg_strerror_r strlcpy strlcat ffs ffsl ffsll "
    "__rawmemchr rawmemchr",
    "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper",
    "isxdigit tolower toupper __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc",
    "__errno_location",
    // stdlib.h
    "malloc calloc realloc reallocarray free aligned_alloc posix_memalign qsort qsort_r bsearch",
    "abs labs llabs div ldiv lldiv imaxabs imaxdiv atoi atol atoll atof strtol strtoll strtoul",
    "strtoull strtoimax strtoumax strtod strtof strtold rand srand rand_r random srandom drand48",
    "erand48 lrand48 srand48 jrand48 mrand48 nrand48 exit abort _Exit atexit mblen mbtowc wctomb",
    "mbstowcs wcstombs strxfrm strsignal",
    // math.h, fenv.h
    "fabs* sqrt* cbrt* floor* ceil* round* trunc truncf truncl rint* nearbyint* lround* llround* "
    "lrint* llrint*",
    "fmin* fmax* fmod* fdim* fma fmaf fmal pow powf powl exp exp2* exp10* expf expl expm1* log "
    "logf logl log10* log1p* log2* sin* cos* tan* asin* acos* "
    "atan*",
    "hypot* erf* tgamma* lgamma* remainder* remquo* copysign* nan nanf nanl nextafter* nexttoward*",
    "ldexp* frexp* modf* scalbn* scalbln* ilogb* logb* significand* isnan* isinf* finite* __isnan*",
    "__isinf* __finite* __signbit* __fpclassify* __iscanonical* signgam feclearexcept fedisable*",
    "feenable* feget* feholdexcept feraise* feset* fetest* feupdate*",
    // stdio.h
    "printf fprintf vprintf vfprintf dprintf vdprintf snprintf vsnprintf sprintf vsprintf asprintf",
    "vasprintf puts",
    "fputs putchar fputc putc fwrite fflush perror sscanf vsscanf setvbuf setbuf setlinebuf stdout",
    "stderr _IO_putc putchar_unlocked putc_unlocked fputc_unlocked fwrite_unlocked ferror feof",
    // time.h, sys/time.h
    "clock_gettime clock_getres timespec_get time gettimeofday clock nanosleep difftime",
    "localtime localtime_r gmtime gmtime_r mktime timegm strftime asctime asctime_r ctime ctime_r",
    // assert.h, setjmp.h, and what compilers call by themselves
    "__assert_fail __assert_perror_fail __assert setjmp _setjmp __sigsetjmp longjmp siglongjmp",
    "_longjmp __longjmp_chk _GLOBAL_OFFSET_TABLE_ __stack_chk_fail __stack_chk_guard",
    "__tls_get_addr __udiv* __div* __mod* __umod* __mul* __add* __sub* __neg* __cmp* __ucmp*",
    "__float* __fix* __ext* __trunc* __pop* __clz* __ctz* __ffs* __parity* __bswap* __eq* __ne*",
    "__lt* __le* __gt* __ge* __unord* __pow* __ash* __lsh* _Unwind_Resume __gcc_personality_v0",
};

static const char *const of_the_engine[] = {
    "layer_forward layer_forward_many layer_attribute layer_output_shape tensor_* scope_open",
    "scope_close scope_exit error_status error_message error_clear error_pending error_set",
    "status_name status_text no_grad_begin no_grad_end loss_cross_entropy autograd_backward",
    "optimizer_zero_grad optimizer_step optimizer_name optimizer_flag mock_* reference_count_flops",
    "reference_count_bytes reference_roofline dtype_name dtype_size shape_*",
};

const char *const names_redirected[] = {"clock_gettime",
                                        "clock_getres",
                                        "timespec_get",
                                        "time",
                                        "gettimeofday",
                                        "clock",
                                        "nanosleep",
                                        "malloc",
                                        "calloc",
                                        "realloc",
                                        "reallocarray",
                                        "free",
                                        "aligned_alloc",
                                        "posix_memalign",
                                        "strdup",
                                        "strndup",
                                        "asprintf",
                                        "vasprintf",
                                        "layer_forward",
                                        "layer_forward_many",
                                        "loss_cross_entropy",
                                        "optimizer_step",
                                        "autograd_backward",
                                        "optimizer_zero_grad",
                                        NULL};

// ---- rules -------------------------------------------------------------------------------------
static bool is_word_of(const char *words, const char *name) {
    size_t length = strlen(name);
    while (*words) {
        size_t word = strcspn(words, " ");
        bool prefix = words[word - 1] == '*';
        if (prefix ? length >= word - 1 && strncmp(words, name, word - 1) == 0
                   : length == word && strncmp(words, name, word) == 0)
            return true;
        words += word;
        words += *words == ' ';
    }
    return false;
}

static bool is_any_of(const char *const *lists, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (is_word_of(lists[i], name)) return true;
    return false;
}

// Undoes what headers make of a function's name: __printf_chk, __isoc99_sscanf, __isoc23_strtol.
static const char *plain_name(const char *name, char plain[128]) {
    static const char *const prefixes[] = {"__isoc99_", "__isoc23_", "__builtin_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return name + strlen(prefixes[i]);
    size_t length = strlen(name);
    bool checked = length > 6 && length < 128 && strncmp(name, "__", 2) == 0 &&
                   strcmp(name + length - 4, "_chk") == 0;
    if (!checked) return name;
    snprintf(plain, 128, "%.*s", (int)(length - 6), name + 2);
    return plain;
}

static bool worker_has(const Object *worker, const char *name) {
    char redirected[160];
    snprintf(redirected, sizeof redirected, "lab_%.128s", name);
    return object_defines(worker, redirected) || object_defines(worker, name);
}

NameRule name_rule(const char *name, const Object *worker, bool sanitize) {
    char buffer[128];
    const char *plain = plain_name(name, buffer);
    if (is_any_of(of_the_engine, sizeof of_the_engine / sizeof of_the_engine[0], plain))
        return worker_has(worker, plain) ? NAME_ALLOWED : NAME_ELSEWHERE;
    if (is_any_of(allowed, sizeof allowed / sizeof allowed[0], plain) ||
        is_any_of(allowed, sizeof allowed / sizeof allowed[0], name) ||
        (sanitize && is_word_of("__asan_* __start_asan_* __stop_asan_* __sanitizer_*", name)))
        return NAME_ALLOWED;
    return dlsym(RTLD_DEFAULT, name) || worker_has(worker, name) ? NAME_REFUSED : NAME_NOWHERE;
}

// ---- lines of a source -------------------------------------------------------------------------
static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

// The next place in which `name` stands as a word; NULL.
static const char *next_word(const char *source, const char *from, const char *name) {
    size_t length = strlen(name);
    for (const char *at = from; length > 0 && (at = strstr(at, name)); at += length)
        if ((at == source || !is_letter(at[-1])) && !is_letter(at[length])) return at;
    return NULL;
}

static int line_at(const char *source, const char *at) {
    int line = at ? 1 : 0;
    for (const char *c = source; at && c < at; c++) line += *c == '\n';
    return line;
}

static const char *skip_space(const char *text) { return text + strspn(text, " \t\r\n"); }

int source_line_of(const char *source, const char *name) {
    const char *at = next_word(source, source, name);
    for (const char *call = at; call; call = next_word(source, call + 1, name))
        if (*skip_space(call + strlen(name)) == '(') return line_at(source, call);
    return line_at(source, at);
}

// A name, its parameters, and a brace after them.
int source_definition(const char *source, const char *name) {
    for (const char *at = next_word(source, source, name); at;
         at = next_word(source, at + 1, name)) {
        const char *end = skip_space(at + strlen(name));
        if (*end != '(') continue;
        int depth = 0;
        const char *far = end + strnlen(end, MOST_PARAMETERS); // else a file of names costs minutes
        do {
            depth += (*end == '(') - (*end == ')');
        } while (++end < far && depth > 0);
        if (depth == 0 && *skip_space(end) == '{') return line_at(source, at);
    }
    return 0;
}
