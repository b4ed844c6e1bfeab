// test_handout.c -- handouts: the same bytes each time, nothing that students must not have, and an
// autograder that always leaves a score. `make handout` itself checks that a handout builds and is
// worth no points.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

enum { TEXT = 4096 };

// ---- handouts ----------------------------------------------------------------------------------
START_TEST(a_handout_is_the_same_twice_and_holds_nothing_of_ours) {
    char command[TEXT], here[1024];
    work_folder_begin();
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    if (access(".git", F_OK) != 0 || access("exercises/instructor/handout", X_OK) != 0)
        test_skip("no checkout");
    snprintf(
        command, sizeof command,
        "root=$PWD; cd '%s'; exercises/instructor/handout --no-build $root/1.tar.gz >/dev/null\n"
        "exercises/instructor/handout --no-build $root/2.tar.gz >/dev/null; cd $root\n"
        "cmp 1.tar.gz 2.tar.gz; tar tzf 1.tar.gz >names\n"
        "grep -q '^ridgepoint/Makefile$' names; grep -q '^ridgepoint/exercises/' names\n"
        "not grep -E 'solutions|mutants|hostile|selftest|instructor|INSTRUCTOR|secret|[.]git/'"
        " names\n"
        "not grep -E '/tests/.*test_[a-z_]*[.]c|[.]ci/' names",
        here);
    work_folder_run(command);
    // Also from a source tree without git: the contents of the first handout, unpacked anew.
    work_folder_run(
        "mkdir tree; tar xzf 1.tar.gz -C tree; mkdir -p tree/ridgepoint/exercises/instructor\n"
        "tar tvzf 1.tar.gz | grep -vqE ' 0/0 ' && exit 1 || true");
    snprintf(
        command, sizeof command,
        "cp '%s/exercises/instructor/handout' tree/ridgepoint/exercises/instructor\n"
        "cd tree/ridgepoint; exercises/instructor/handout --no-build ../../3.tar.gz >/dev/null\n"
        "cd ../..; cmp 1.tar.gz 3.tar.gz",
        here);
    work_folder_run(command);
    work_folder_end();
}
END_TEST

// Runs an autograder's machine, with a stand-in for the program that it has built.
START_TEST(gradescope_gets_a_score_whatever_happens) {
    char command[TEXT], here[1024];
    work_folder_begin();
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    snprintf(command, sizeof command,
             "mkdir -p source/ridgepoint/build/normal submission\n"
             "cp '%s/exercises/gradescope/run_autograder' .; export AUTOGRADER_ROOT=$PWD\n"
             "./run_autograder; grep -q '\"score\": 0' results/results.json\n"
             "cat >source/ridgepoint/build/normal/instructor <<'END'\n"
             "#!/bin/sh\n"
             "echo \"$@\" >\"$AUTOGRADER_ROOT/asked\"; echo '{\"score\": 7}' >\"$4/results.json\"\n"
             "END\n"
             "chmod +x source/ridgepoint/build/normal/instructor; echo s >source/secret\n"
             "echo '{\"users\": [{\"email\": \"jane@x.edu\"}]}' >submission_metadata.json\n"
             "./run_autograder; grep -q '\"score\": 7' results/results.json\n"
             "grep -q -- '--secret' asked\n"
             "! command -v jq >/dev/null || grep -q -- '--student jane@x.edu' asked",
             here);
    work_folder_run(command);
    work_folder_end();
}
END_TEST

// ---- where it runs -----------------------------------------------------------------------------
// Runs commands in the project's root; skips if the tool is missing.
static void in_root(const char *tool, const char *commands) {
    char command[TEXT];
    snprintf(command, sizeof command, "%s >/dev/null 2>&1", tool);
    if (system(command) != 0) test_skip(tool);
    snprintf(command, sizeof command, "set -e\n%s", commands);
    ck_assert_msg(system(command) == 0, "%s", commands);
}

// The container's list has all that `make setup` installs, and the container matches its file.
START_TEST(the_container_has_what_setup_installs) {
    in_root(
        "command -v jq",
        "cd .devcontainer; test \"$(jq -r '.build.dockerfile' devcontainer.json)\" = Dockerfile\n"
        "test \"$(jq -r '.remoteUser' devcontainer.json)\" = student\n"
        "jq -e '.postCreateCommand == \"make all lab\" and .postAttachCommand == \"./lab\"' "
        "devcontainer.json >/dev/null\n"
        "for package in gcc libc6-dev libopenblas-dev libjansson-dev zlib1g-dev check make; do\n"
        "    grep -qE \"(^| )$package( |$)\" Dockerfile; done");
    in_root(
        "test -f tests/tools/configure",
        "for name in openblas jansson; do grep -q \"find_library $name\" tests/tools/configure\n"
        "done");
}
END_TEST

// A YAML reader accepts it, and its command is ours, with existing options.
START_TEST(the_workflow_is_yaml_and_fails_below_its_minimum) {
    in_root("/usr/bin/python3 -c 'import yaml'",
            "/usr/bin/python3 -c '\n"
            "import yaml\n"
            "job = yaml.safe_load(open(\"exercises/github/classroom.yml\"))[\"jobs\"][\"grade\"]\n"
            "assert \"|| 60\" in job[\"env\"][\"MINIMUM\"]\n"
            "runs = [step[\"run\"] for step in job[\"steps\"] if step.get(\"name\") == \"Grade\"]\n"
            "assert \"--minimum \\\"$MINIMUM\\\"\" in runs[0] and \"|| true\" not in runs[0]\n'");
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_handout_is_the_same_twice_and_holds_nothing_of_ours, 0},
        {gradescope_gets_a_score_whatever_happens, 0},
        {the_container_has_what_setup_installs, 0},
        {the_workflow_is_yaml_and_fails_below_its_minimum, 0},
        {NULL, 0},
    };
    return harness_main("handout", tests);
}
