// test_plugin.c -- finding and opening the plug-in that brings the cuda device, and the messages
// when that fails. test_cuda*.c test the device itself.
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tensor/plugin.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/run_program.h"

static void use_plugin(const char *path, const char *behaviour) {
    setenv("RIDGEPOINT_CUDA_PLUGIN", path, 1);
    setenv("SAMPLE_PLUGIN", behaviour, 1);
}

// The path of a file, given relative to the folder of this program.
static const char *path_of(const char *place) {
    static char path[PATH_MAX];
    char self[PATH_MAX - 64] = "";
    ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    snprintf(path, sizeof path, "%s/%s", dirname(self), place);
    return path;
}
#define SAMPLE "plugins/libsample.so"

// Expects that cuda is refused in one line with the problem and a remedy.
static void check_refusal(const char *mention) {
    ck_assert_ptr_null(device_open("cuda"));
    const char *text = error_message();
    ck_assert_msg(strncmp(text, "cuda: ", 6) == 0, "%s", text);
    ck_assert_msg(strchr(text, '\n') == NULL, "%s", text);
    ck_assert_msg(strstr(text, " HINT: ") != NULL, "%s", text);
    expect_error(STATUS_DEVICE, mention);
    DeviceState states[3];
    ck_assert_int_eq(device_list(states, 3), 3);
    ck_assert_str_eq(states[2].name, "cuda");
    ck_assert(!states[2].usable);
    ck_assert_msg(strstr(states[2].reason, mention) != NULL, "%s", states[2].reason);
    expect_no_error();
}

START_TEST(the_devices_that_are_always_there_open_by_name) {
    ck_assert_ptr_eq(device_open("cpu"), device_cpu());
    ck_assert_ptr_eq(device_open("meta"), device_meta());
    ck_assert_ptr_null(device_open("tpu"));
    expect_error(STATUS_INVALID_ARGUMENT, "\"tpu\". HINT: the devices are cpu, meta and cuda");
}
END_TEST

START_TEST(while_an_error_is_pending_nothing_opens_and_the_list_keeps_it) {
    error_set(STATUS_SHAPE, "the first error");
    ck_assert_ptr_null(device_open("cpu"));
    DeviceState states[3];
    device_list(states, 3);
    ck_assert(states[0].usable && !states[2].usable);
    expect_error(STATUS_SHAPE, "the first error");
}
END_TEST

START_TEST(a_list_writes_no_more_states_than_there_is_room_for) {
    DeviceState states[2] = {{.name = "mine"}, {.name = "mine"}};
    ck_assert_int_eq(device_list(states, 1), 3);
    ck_assert_str_eq(states[0].name, "cpu");
    ck_assert(states[0].usable && strstr(states[0].reason, "threads") != NULL);
    ck_assert_str_eq(states[1].name, "mine");
}
END_TEST

START_TEST(without_a_driver_there_is_no_gpu) {
    unsetenv("RIDGEPOINT_CUDA_PLUGIN");
    if (dlopen("libcuda.so.1", RTLD_NOW)) test_skip("this machine has a driver");
    check_refusal("no NVIDIA driver on this machine (libcuda.so.1: ");
}
END_TEST

START_TEST(a_plug_in_that_is_not_there) {
    use_plugin("/nowhere/plugin.so", "");
    check_refusal("cannot read the plug-in /nowhere/plugin.so");
}
END_TEST

START_TEST(a_plug_in_that_is_no_library) {
    use_plugin("/etc/passwd", "");
    check_refusal("cannot load /etc/passwd: ");
}
END_TEST

START_TEST(a_library_that_is_no_plug_in) {
    Dl_info info;
    ck_assert(dladdr(dlsym(RTLD_DEFAULT, "printf"), &info));
    use_plugin(info.dli_fname, "");
    check_refusal("is no plug-in of ours: it has no ridgepoint_plugin_abi");
}
END_TEST

START_TEST(a_plug_in_of_another_build_is_not_called) {
    use_plugin(path_of(SAMPLE), "other");
    check_refusal("was built from other sources than this program");
}
END_TEST

START_TEST(what_a_plug_in_says_stands) {
    use_plugin(path_of(SAMPLE), "refuses");
    check_refusal("cuda: nothing in (model), forward");
}
END_TEST

START_TEST(a_plug_in_opens_once_and_says_what_it_brings) {
    use_plugin(path_of(SAMPLE), "refuses");
    ck_assert_ptr_null(device_open("cuda"));
    error_clear();
    use_plugin(path_of(SAMPLE), ""); // without the problem it opens
    Device *device = device_open("cuda");
    ck_assert_msg(device != NULL, "%s", error_message());
    use_plugin("/nowhere/plugin.so", "");
    ck_assert_ptr_eq(device_open("cuda"), device);
    DeviceState states[3];
    device_list(states, 3);
    ck_assert(states[2].usable);
    ck_assert(strncmp(states[2].reason, "a sample with ", 14) == 0);
}
END_TEST

// A driver, but no plug-in beside the program, which is alone in its folder.
START_TEST(a_driver_without_a_plug_in) {
    char folder[] = "/tmp/test_plugin_XXXXXX", command[3 * PATH_MAX], program[PATH_MAX];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(command, sizeof command, "mkdir %s/bin && cp '%s' %s/bin && cp '%s' %s/libcuda.so.1",
             folder, program_path("profile_mlp"), folder, path_of(SAMPLE), folder);
    ck_assert_int_eq(system(command), 0);
    unsetenv("RIDGEPOINT_CUDA_PLUGIN");
    setenv("LD_LIBRARY_PATH", folder, 1);
    snprintf(program, sizeof program, "%s/bin/profile_mlp", folder);
    ProgramRun got = program_run(program, "--device cuda", PROGRAM_CAPTURED);
    program_check_refusal(&got, 3, "cuda: there is no libridgepoint_cuda.so in ", "HINT: make ");
    got = program_run(program, "--devices", PROGRAM_CAPTURED);
    ck_assert_int_eq(got.status, 0);
    ck_assert_int_eq(program_count_lines(got.out), 3);
    ck_assert_ptr_nonnull(strstr(got.out, "\ncuda   not usable   cuda: there is no lib"));
    program_run_free(&got);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

// Checks the dynamic loader's own list of requested files.
START_TEST(who_does_not_ask_for_cuda_does_not_touch_the_driver) {
    static const char *const arguments[] = {
        "--layers 6,4 --epochs 0 --iterations 3 --warmup 2 --peaks tests/fixtures/peaks.json",
        "--device meta --epochs 0", "--version", "--devices"};
    unsetenv("RIDGEPOINT_CUDA_PLUGIN");
    setenv("LD_DEBUG", "files", 1);
    ProgramRun got = program_run(program_path("profile_mlp"), arguments[_i], PROGRAM_CAPTURED);
    ck_assert_int_eq(got.status, 0);
    if (!strstr(got.err, "libm.so")) test_skip("this loader keeps no account");
    bool asked = strstr(got.err, "libcuda.so") || strstr(got.err, "libridgepoint_cuda");
    ck_assert_int_eq(asked, _i == 3);
    program_run_free(&got);
}
END_TEST

// ---- linking -----------------------------------------------------------------------------------
// Checks that a file's list of needed libraries mentions none of these.
static void check_needs_none_of(const char *path, const char *const names[]) {
    char command[PATH_MAX + 32], line[512];
    snprintf(command, sizeof command, "readelf -d '%s' 2>/dev/null", path);
    FILE *readelf = popen(command, "r");
    ck_assert_ptr_nonnull(readelf);
    int libraries = 0;
    while (fgets(line, sizeof line, readelf)) {
        if (!strstr(line, "(NEEDED)")) continue;
        libraries++;
        for (int i = 0; names[i]; i++)
            ck_assert_msg(!strstr(line, names[i]), "%s needs %s", path, line);
    }
    pclose(readelf);
    ck_assert_int_gt(libraries, 0);
}

START_TEST(programs_link_nothing_of_nvidia) {
    if (system("readelf -v >/dev/null 2>&1") != 0) test_skip("readelf is missing");
    check_needs_none_of(program_path("profile_mlp"),
                        (const char *const[]){"libcu", "libnv", "ridgepoint_cuda", NULL});
}
END_TEST

START_TEST(the_plug_in_does_not_link_the_driver) {
    const char *path = path_of("../../libridgepoint_cuda.so"); // one file for all variants
    if (access(path, R_OK) != 0) test_skip("libridgepoint_cuda.so is not built");
    if (system("readelf -v >/dev/null 2>&1") != 0) test_skip("readelf is missing");
    check_needs_none_of(path, (const char *const[]){"libcuda.so", "libcudart", NULL});
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {the_devices_that_are_always_there_open_by_name, 0},
        {while_an_error_is_pending_nothing_opens_and_the_list_keeps_it, 0},
        {a_list_writes_no_more_states_than_there_is_room_for, 0},
        {without_a_driver_there_is_no_gpu, 0},
        {a_plug_in_that_is_not_there, 0},
        {a_plug_in_that_is_no_library, 0},
        {a_library_that_is_no_plug_in, 0},
        {a_plug_in_of_another_build_is_not_called, 0},
        {what_a_plug_in_says_stands, 0},
        {a_plug_in_opens_once_and_says_what_it_brings, 0},
        {a_driver_without_a_plug_in, 0},
        {who_does_not_ask_for_cuda_does_not_touch_the_driver, 4},
        {programs_link_nothing_of_nvidia, 0},
        {the_plug_in_does_not_link_the_driver, 0},
        {NULL, 0},
    };
    return harness_main("plugin", tests);
}
