// test_intake.c -- a class as platforms export it: the student of each entry, the files taken, and
// a message for everything left out. test_archives.c tests archives and names alone.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/exercises/instructor/class_runs.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

enum { TEXT = 4096 };

static char *listing; // output of the last grade_class

// The text of class.csv; free it. The output is in `listing`, and no line of it is wider than 80.
static char *grade_class(int status, const char *options) {
    char rest[TEXT], path[64];
    snprintf(rest, sizeof rest, "%s/class %s", work_folder, options);
    ProgramRun run = class_instructor("grade-all", rest);
    ck_assert_msg(run.status == status, "%d: %s%s", run.status, run.out, run.err);
    free(listing);
    listing = run.out;
    free(run.err);
    for (const char *line = listing; *line != '\0'; line += strcspn(line, "\n") + 1)
        ck_assert_msg(strcspn(line, "\n") <= 80 || strstr(line, "class.csv") != NULL, "%s", line);
    snprintf(path, sizeof path, "%s/class-grades/class.csv", work_folder);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    char *text = calloc(1, 1 << 16);
    ck_assert_uint_gt(fread(text, 1, (1 << 16) - 1, file), 0);
    fclose(file);
    return text;
}

static void end(char *csv) {
    free(csv);
    free(listing);
    listing = NULL;
    work_folder_end();
}

// The name of a right ex01 in class/, in a file, folder or archive.
#define RIGHT "ex01_count_parameters.c"

START_TEST(platforms_names_lead_to_the_roster) {
    class_begin();
    work_folder_run(
        "cd class; echo right >" RIGHT "; tar cf a.tar " RIGHT "; gzip -c a.tar >a.tgz\n"
        "cp a.tar doejane_LATE_12_34_submission.tar; cp a.tgz roejohn_56_78_x.tgz\n"
        "cp " RIGHT " lovelaceada_91_92_ex01_count_parameters-1.c\n"
        "echo x >lovelaceada_91_93_by_hand.txt\n"
        "mkdir 'Ann Lee_1_assignsubmission_file_' 'Bob De La Cruz_2_assignsubmission_file_'\n"
        "cp " RIGHT " 'Ann Lee_1_assignsubmission_file_'\n"
        "cp a.tgz 'Bob De La Cruz_2_assignsubmission_file_'\n"
        "for s in cid dan-x; do mkdir lab-1-$s; cp " RIGHT " lab-1-$s; done\n"
        "rm " RIGHT " a.tar a.tgz\n"
        "printf '\\357\\273\\277Student,name,id\\r\\nj1,Jane Doe,\\r\\nj2,\"Roe, John\" \\r\\n"
        "j3,A. Lovelace,91\\r\\nj4,Ann Lee,4\\r\\nj5,\"De La Cruz, Bob\",5\\r\\n"
        "cid,C,6\\r\\ndan-x,D,7\\r\\nx,Dan,8\\r\\n' >roster.csv");
    char option[64];
    snprintf(option, sizeof option, "--roster %s/class/roster.csv", work_folder);
    char *csv = grade_class(0, option);
    static const char *const rows[] = {"j1,Jane Doe", "j2,\"Roe, John\"",       "j3,A. Lovelace",
                                       "j4,Ann Lee",  "j5,\"De La Cruz, Bob\"", "cid,C",
                                       "dan-x,D"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char row[64];
        snprintf(row, sizeof row, "\n%s,graded,5,", rows[i]);
        class_assert_in(csv, row);
    }
    class_assert_in(csv, "\nx,Dan,absent,");
    class_assert_in(listing, "came as doejane, handed in late\n");
    class_assert_in(listing, "7 graded now, 0 before, 0 refused, 0 failed, 1 absent; 0 skipped\n");
    ck_assert_int_eq(program_count_lines(csv), 1 + 8);
    end(csv);
}
END_TEST

// Two entries of one name, a name that two may have, and a name that only ends like another's.
START_TEST(nobody_gets_what_may_be_anothers) {
    class_begin();
    work_folder_run("cd class; echo right >" RIGHT "; for s in 11 22; do\n"
                    "cp " RIGHT " doejane_${s}_1_" RIGHT "; done; mkdir mary-ann bob\n"
                    "mv " RIGHT " mary-ann; echo wrong >doejane_22_1_" RIGHT "\n"
                    "printf 'a,Jane Doe,11\\nb,Jane Doe,22\\nann,Ann,3\\nbob,B,4\\n' >../roster");
    char option[64];
    snprintf(option, sizeof option, "--roster %s/roster", work_folder);
    char *csv = grade_class(1, option);
    class_assert_in(csv, "\na,Jane Doe,graded,5,");
    class_assert_in(csv, "\nb,Jane Doe,graded,0,");
    class_assert_in(csv, "\nann,Ann,absent,");
    class_assert_in(csv, "\nmary-ann,,graded,5,");
    free(csv);
    work_folder_run("sed -i 's/,11/,77/; s/,22/,88/' roster");
    csv = grade_class(1, option);
    class_assert_in(csv, "\na,Jane Doe,absent,");
    class_assert_in(csv, "\ndoejane,,graded,5,");
    class_assert_in(listing, "two have this name: give each folder");
    end(csv);
}
END_TEST

// A file goes to the roster's row that its name means, or to nobody.
START_TEST(one_name_of_two_people_leads_to_neither) {
    static const struct {
        const char *make, *roster, *rows[3]; // make: run in class/; rows: of the right file
    } classes[] = {
        {"for s in 111 222; do d=\"Jane Doe_${s}_assignsubmission_file_\"; mkdir \"$d\"; "
         "cp " RIGHT " \"$d\"; done",
         "a,Jane Doe",
         {"\na,Jane Doe,absent,", "\nJane Doe,,graded,5,", "\nJane Doe #222,,graded,5,"}},
        {"cp " RIGHT " doejane_11_1_" RIGHT "; cp " RIGHT " roejohn_33_3_" RIGHT,
         "b,Jane Doe,22\nc,John Roe,33",
         {"\nb,Jane Doe,absent,", "\ndoejane,,graded,5,", "\nc,John Roe,graded,5,"}},
        {"mkdir 'Żak Jan_5_assignsubmission_file_'; cp " RIGHT " Ż*",
         "a,Łak Jan",
         {"\na,Łak Jan,absent,", ",graded,5,", ",graded,5,"}},
        {"mkdir 'Żak Jan_5_assignsubmission_file_'; cp " RIGHT " Ż*",
         "a,Łak Jan\nb,Żak Jan",
         {"\na,Łak Jan,absent,", "\nb,Żak Jan,graded,5,", ",graded,5,"}},
        {"for k in $(seq 201); do : >doejane_11_${k}_x.png; done; cp " RIGHT " bob_" RIGHT,
         "bob",
         {"\ndoejane,,refused,", "more than 200 files", "\nbob,,graded,5,"}}};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        char command[TEXT], option[64];
        class_begin();
        snprintf(command, sizeof command,
                 "cd class; echo right >" RIGHT "; %s; rm " RIGHT "; printf '%s\n' >../roster",
                 classes[i].make, classes[i].roster);
        work_folder_run(command);
        snprintf(option, sizeof option, "--roster %s/roster", work_folder);
        char *csv = grade_class(i == 4, option);
        for (int k = 0; k < 3; k++) class_assert_in(csv, classes[i].rows[k]);
        end(csv);
    }
}
END_TEST

START_TEST(what_is_passed_over_is_listed_and_counted) {
    class_begin();
    work_folder_run("cd class; mkdir amy amy-grade .git; echo right >amy/" RIGHT "\n"
                    "echo '{}' >amy-grade/result.json; : >.DS_Store; : >README\n"
                    "echo right >" RIGHT "; : >notes.pdf; echo x >bob.7z; echo x >cid.c");
    char *csv = grade_class(1, "");
    class_assert_in(csv, "\namy,,graded,5,");
    class_assert_in(csv, "\nbob,,refused,");
    class_assert_in(csv, "\ncid,,refused,");
    static const char *const skipped[] = {".DS_Store", ".git", "README",
                                          "amy-grade", RIGHT,  "notes.pdf"};
    for (size_t i = 0; i < sizeof skipped / sizeof skipped[0]; i++) {
        char line[64];
        snprintf(line, sizeof line, "\n  skipped  %s\n           ", skipped[i]);
        class_assert_in(listing, line);
    }
    class_assert_in(listing, "1 graded now, 0 before, 2 refused, 0 failed, 0 absent; 6 skipped\n");
    work_folder_run("grep -q '^bob,,bob,,.$' class-grades/gradebook.csv\n" // empty, not 0
                    "grep -q '^amy,,amy,,5.$' class-grades/gradebook.csv");
    end(csv);
}
END_TEST

// With two files for one exercise, the choice, and the message about it.
START_TEST(of_two_files_it_is_told_which_was_taken) {
    static const struct {
        const char *make, *row, *told; // make: run in a student's folder; told NULL: no message
    } submissions[] = {
        {"echo right >" RIGHT "; echo no >'ex01_count_parameters (1).c'", "graded,5,",
         "its name is exact"},
        {"echo no >'ex01_count_parameters (1).c'; echo right >'ex01_count_parameters (2).c'",
         "graded,5,", "the later copy"},
        {"mkdir old; echo no >old/" RIGHT "; echo right >" RIGHT, "graded,5,", "further out"},
        {"mkdir old exercises; echo no >old/" RIGHT "; echo right >exercises/" RIGHT, "graded,5,",
         "it lies in exercises/"},
        {"mkdir a b; echo right >a/" RIGHT "; echo no >b/" RIGHT "; echo right >" RIGHT,
         "graded,5,", "further out"},
        {"echo right >" RIGHT "; tar cf x.tar --transform s,^,PKumar/, " RIGHT "; rm " RIGHT,
         "graded,5,", NULL},
        {"mkdir a b; echo right >a/" RIGHT "; echo no >b/" RIGHT, "refused,", "is there twice"},
        {"mkdir a b; echo right >a/" RIGHT "; echo right >b/" RIGHT, "graded,5,", NULL},
        {"d=a; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do d=$d/a; done; mkdir -p $d; echo right "
         ">$d/" RIGHT,
         "graded,5,", NULL},
        {"echo right >" RIGHT "; tar cf old.tar " RIGHT, "graded,5,", "old.tar is not opened"},
        {"echo right >" RIGHT "; mkdir w; tar cf w/old.tar " RIGHT "; rm " RIGHT, "graded,5,",
         NULL},
        {"mkdir -p x/exercises/.lab/skeletons __MACOSX; echo no >__MACOSX/" RIGHT
         "; echo no >x/exercises/.lab/skeletons/" RIGHT "; echo right >x/exercises/" RIGHT,
         "graded,5,", NULL},
        {"printf '\\357\\273\\277right\\r\\n' >Ex01_Count_Parameters.C", "graded,5,", NULL},
    };
    for (size_t i = 0; i < sizeof submissions / sizeof submissions[0]; i++) {
        char command[TEXT], row[64];
        class_begin();
        snprintf(command, sizeof command, "mkdir class/amy; cd class/amy; %s", submissions[i].make);
        work_folder_run(command);
        char *csv = grade_class(submissions[i].row[0] == 'r', "");
        snprintf(row, sizeof row, "\namy,,%s", submissions[i].row);
        ck_assert_msg(strstr(csv, row) != NULL, "%s:\n%s", submissions[i].make, csv);
        const char *note = strrchr(csv, ',');
        bool told = strlen(note) > 3;
        ck_assert_msg(told == (submissions[i].told != NULL), "%s:\n%s", submissions[i].make, csv);
        if (told) class_assert_in(csv, submissions[i].told);
        end(csv);
    }
}
END_TEST

// A file with another system's line ends is graded with this system's.
START_TEST(lines_are_ended_as_here) {
    class_begin();
    work_folder_run("sed -i 's|^output=.*|&; cp $2/ex01_count_parameters.c $4/seen|' lab\n"
                    "mkdir class/amy class/bob; printf 'right\\n\\\\\\nx\\n' >wanted\n"
                    "printf '\\357\\273\\277right\\r\\n\\\\\\r\\nx\\r\\n' >class/amy/" RIGHT "\n"
                    "cp wanted class/bob/" RIGHT);
    char *csv = grade_class(0, "");
    work_folder_run("cmp wanted class-grades/amy/seen; cmp wanted class-grades/bob/seen");
    end(csv);
}
END_TEST

// Files of one name inside an archive and beside it: both are used.
START_TEST(two_entries_of_a_student_are_one_submission) {
    class_begin();
    work_folder_run("cd class; mkdir Amy; echo x >Amy/by_hand.txt; echo right >" RIGHT "\n"
                    "tar cf amy.tar " RIGHT "; echo wrong >" RIGHT "; tar cf bob.tar " RIGHT "\n"
                    "echo right >" RIGHT "; tar czf bob.tgz " RIGHT "; rm " RIGHT);
    char *csv = grade_class(1, "");
    class_assert_in(csv, ",,graded,5,");
    class_assert_in(csv, "\nbob,,refused,");
    class_assert_in(csv, "is there twice, as bob.tar/" RIGHT " and as bob.tgz/" RIGHT);
    class_assert_in(csv, "of 2 entries");
    ck_assert_int_eq(program_count_lines(csv), 1 + 2);
    end(csv);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {platforms_names_lead_to_the_roster, 0},
        {nobody_gets_what_may_be_anothers, 0},
        {one_name_of_two_people_leads_to_neither, 0},
        {what_is_passed_over_is_listed_and_counted, 0},
        {of_two_files_it_is_told_which_was_taken, 0},
        {lines_are_ended_as_here, 0},
        {two_entries_of_a_student_are_one_submission, 0},
        {NULL, 0},
    };
    return harness_main("intake", tests);
}
