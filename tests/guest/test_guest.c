// test_guest.c -- the library in other people's programs (tests/guest/): installed somewhere with a
// space in its path, found by pkg-config, in C and C++, shared and static; its exported names, and
// the files left when it is uninstalled.
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

enum { TEXT = 8192 };

static char root[PATH_MAX], variant[64];

// Finds the folder of this program's build; skips if no installable library was built.
static void find_build(void) {
    char self[PATH_MAX] = "", library[PATH_MAX + 128];
    ck_assert_ptr_nonnull(getcwd(root, sizeof root));
    ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    snprintf(variant, sizeof variant, "%.60s", basename(dirname(dirname(self))));
    snprintf(library, sizeof library, "%s/build/%s/installed/libridgepoint.a", root, variant);
    if (access(library, R_OK) != 0) test_skip("this variant is not installed anywhere");
}

// Runs commands in the test's folder; $root is the project, `into VAR=...` installs the build
// there, and `use` sets the variables with which a user finds it.
static void shell(const char *commands) {
    char whole[TEXT];
    int length = snprintf(
        whole, sizeof whole,
        "root='%s'; here=$PWD; prefix=\"$here/a place's\"\n"
        "into() { env -u MAKEFLAGS -u MFLAGS make -s -C \"$root\" VARIANT=%s \"$@\" >log 2>&1 || "
        "{ cat log; false; }; }\n"
        "use() { export LC_ALL=C LD_LIBRARY_PATH=\"$prefix/lib\" "
        "PKG_CONFIG_PATH=\"$prefix/lib/pkgconfig\"; }\n"
        "%s",
        root, variant, commands);
    ck_assert_int_lt(length, TEXT);
    work_folder_run(whole);
}

static void begin(void) {
    find_build();
    if (system("pkg-config --version >/dev/null 2>&1") != 0)
        test_skip("pkg-config is not installed");
    work_folder_begin();
    shell("into install-files PREFIX=\"$prefix\"");
}

static void need(const char *program) {
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    if (system(command) == 0) return;
    snprintf(command, sizeof command, "%s is not installed", program);
    test_skip(command);
}

// ---- programs ----------------------------------------------------------------------------------
typedef struct Guest {
    const char *compiler, *standard, *source;
    bool is_static;
} Guest;
#define WAYS(compiler, standard, source)                                                           \
    {compiler, standard, source, false}, { compiler, standard, source, true }
static const Guest guests[] = {
    WAYS("gcc", "c11", "tests/guest/mlp.c"),          WAYS("clang", "c11", "tests/guest/mlp.c"),
    WAYS("gcc", "gnu2x", "tests/guest/mlp.c"),        WAYS("g++", "c++17", "tests/guest/mlp.cpp"),
    WAYS("clang++", "c++17", "tests/guest/mlp.cpp"),  WAYS("gcc", "c11", "tests/guest/own_names.c"),
    WAYS("clang", "c11", "tests/guest/own_names.c"),  WAYS("gcc", "c11", "exercises/tour/2_op.c"),
    WAYS("clang", "c11", "exercises/tour/3_layer.c"),
};
enum { GUESTS = sizeof(guests) / sizeof(guests[0]) };

// pkg-config quotes its output for a shell, hence eval.
START_TEST(a_guest_compiles_without_a_complaint_and_runs) {
    const Guest *guest = &guests[_i];
    need(guest->compiler);
    begin();
    char commands[1024];
    snprintf(commands, sizeof commands,
             "use; flags=$(pkg-config %s --cflags --libs ridgepoint%s)\n"
             "eval \"%s -std=%s -Wall -Wextra -Wshadow -pedantic -Werror -o guest "
             "'$root/%s' $flags -pthread\"\n"
             "./guest guest.json >out || { cat out; false; }\n"
             "ldd ./guest | grep -c libridgepoint.so.0 | grep -qx %d",
             guest->is_static ? "--static" : "",
             guest->is_static ? " | sed 's/-lridgepoint/-l:libridgepoint.a/'" : "", guest->compiler,
             guest->standard, guest->source, !guest->is_static);
    shell(commands);
    if (strcmp(guest->source, guests[0].source) == 0)
        shell("grep -q ridgepoint.profile/v1 guest.json");
    work_folder_end();
}
END_TEST

// A user's header with the name of one of ours stays the user's.
START_TEST(a_header_of_the_users_is_not_taken_for_ours) {
    begin();
    shell("use; mkdir -p tensor profiler layers autograd\n"
          "for name in tensor/tensor tensor/op tensor/context layers/layer profiler/profile; do\n"
          "    echo '#error this is the user'\\''s' >$name.h\n"
          "done\n"
          "echo '#include <ridgepoint/ridgepoint.h>' >guest.c\n"
          "eval \"${CC:-cc} -I. -iquote . -c guest.c $(pkg-config --cflags ridgepoint)\"");
    work_folder_end();
}
END_TEST

// Each header compiles alone, without help from others' includes; also in C++.
START_TEST(every_header_stands_alone) {
    const char *const languages[][2] = {{"cc", "c"}, {"c++", "c++"}};
    need(languages[_i][0]);
    begin();
    char commands[1024];
    snprintf(commands, sizeof commands,
             "cd \"$prefix/include\"; find . -name '*.h' >$here/headers\n"
             "test $(wc -l <$here/headers) -gt 30\n"
             "while read -r header; do\n"
             "    printf '#include \"%%s\"\\nextern int declared;\\n' \"$header\" |\n"
             "        %s -x %s -fsyntax-only -pedantic -Wall -Wextra -Werror -I. -\n"
             "done <$here/headers",
             languages[_i][0], languages[_i][1]);
    shell(commands);
    work_folder_end();
}
END_TEST

// ---- names -------------------------------------------------------------------------------------
START_TEST(what_is_exported_is_what_public_headers_declare) {
    begin();
    shell("echo '#include <ridgepoint/ridgepoint.h>' >all.c\n"
          "${CC:-cc} -E -P -I\"$prefix/include\" all.c | awk -f \"$root/tests/guest/declared.awk\" "
          "|\n"
          "    LC_ALL=C sort >declared\n"
          "test $(wc -l <declared) -gt 300; grep -qx tensor_relu declared\n"
          "grep -qx layer_forward declared; grep -qx op_relu declared\n"
          "nm -D --defined-only \"$prefix/lib/libridgepoint.so\" | awk '{ print $3 }' |\n"
          "    LC_ALL=C sort >shared\n"
          "nm -g --defined-only \"$prefix/lib/libridgepoint.a\" | awk 'NF == 3 { print $3 }' |\n"
          "    LC_ALL=C sort >static\n"
          "diff declared shared; diff declared static");
    work_folder_end();
}
END_TEST

START_TEST(the_version_is_the_same_wherever_one_asks) {
    begin();
    shell("use; version=$(pkg-config --modversion ridgepoint)\n"
          "test -f \"$prefix/lib/libridgepoint.so.$version\"\n"
          "printf '%s\\n' '#include <ridgepoint/tensor/version.h>' RIDGEPOINT_VERSION |\n"
          "    ${CC:-cc} -E -P -I\"$prefix/include\" - | tr -d '\" \\n' >version\n"
          "tail -c 12 version | grep -qF \"$version\"\n"
          "\"$prefix/bin/profile_mlp\" --version | grep -qF \" $version\"");
    work_folder_end();
}
END_TEST

// ---- places ------------------------------------------------------------------------------------
// After an uninstall exactly the earlier files are left, also in shared folders.
START_TEST(uninstalling_leaves_what_was_there) {
    begin();
    shell(
        "into install-files PREFIX=\"$prefix\"; into uninstall PREFIX=\"$prefix\"\n"
        "test ! -e \"$prefix\"\n"
        "mkdir -p \"$prefix/include/ridgepoint/tensor\" \"$prefix/share/man\" \"$prefix/bin\" \\\n"
        "    \"$prefix/lib/pkgconfig\"; find \"$prefix\" | sort >before\n"
        "into install-files PREFIX=\"$prefix\"; into uninstall PREFIX=\"$prefix\"\n"
        "find \"$prefix\" | sort | diff before -\n"
        "cd \"$prefix\"; touch include/mine.h include/ridgepoint/tensor/mine.h bin/mine \\\n"
        "    lib/libridgepoint_of_mine.a lib/pkgconfig/mine.pc; cd \"$here\"\n"
        "find \"$prefix\" | sort >before; into install-files PREFIX=\"$prefix\"\n"
        "test $(find \"$prefix\" ! -type d | wc -l) -gt 30\n"
        "grep -q tensor_relu \"$prefix/share/doc/ridgepoint/tensor.md\"; into uninstall "
        "PREFIX=\"$prefix\"\n"
        "find \"$prefix\" | sort | diff before -");
    work_folder_end();
}
END_TEST

// A packager's stage, relative to the tree: no installed file mentions it.
START_TEST(a_stage_is_not_remembered) {
    begin();
    shell("stage=build/test-cache/stage-$$; trap 'rm -rf \"$root/$stage\"' EXIT\n"
          "into install-files DESTDIR=\"$stage\" PREFIX=/opt/x LIBDIR='/opt/x/lib 64'\n"
          "cd \"$root/$stage\"; test -x opt/x/bin/profile_mlp\n"
          "test -f opt/x/include/ridgepoint/ridgepoint.h\n"
          "test \"$(readlink 'opt/x/lib 64/libridgepoint.so')\" = libridgepoint.so.0\n"
          "export PKG_CONFIG_PATH=\"$PWD/opt/x/lib 64/pkgconfig\"\n"
          "pkg-config --cflags ridgepoint | grep -q -- '^-I/opt/x/include'\n"
          "pkg-config --libs ridgepoint | grep -qF -- '-L/opt/x/lib\\ 64 -lridgepoint'\n"
          "if grep -rF test-cache opt/x/include opt/x/share 'opt/x/lib 64/pkgconfig'; then false; "
          "fi\n"
          "cd \"$here\"; into uninstall DESTDIR=\"$stage\" PREFIX=/opt/x LIBDIR='/opt/x/lib 64'\n"
          "test ! -e \"$root/$stage\"");
    work_folder_end();
}
END_TEST

START_TEST(a_relative_prefix_is_refused) {
    begin();
    shell("if into install-files PREFIX=somewhere >/dev/null; then false; fi\n"
          "grep -q 'not an absolute path: somewhere/lib' log; test ! -e \"$root/somewhere\"");
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_guest_compiles_without_a_complaint_and_runs, GUESTS},
        {a_header_of_the_users_is_not_taken_for_ours, 0},
        {every_header_stands_alone, 2},
        {what_is_exported_is_what_public_headers_declare, 0},
        {the_version_is_the_same_wherever_one_asks, 0},
        {uninstalling_leaves_what_was_there, 0},
        {a_stage_is_not_remembered, 0},
        {a_relative_prefix_is_refused, 0},
        {NULL, 0},
    };
    return harness_main("guest", tests);
}
