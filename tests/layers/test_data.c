// test_data.c -- folders of IDX files as datasets, splitting them, and drawing digits. test_idx.c
// tests single files, test_loader.c batches.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layers/files/idx.h"
#include "layers/train/digits.h"
#include "tensor/memory.h"
#include "tests/helpers/data_files.h"
#include "tests/helpers/harness.h"

typedef struct Folder {
    char path[DATA_PATH];
    Dataset train, test;
    bool was_split;
} Folder;

static Status read_folder(Folder *folder) {
    return dataset_read_folder(folder->path, &folder->train, &folder->test, &folder->was_split);
}

static void end_folder(Folder *folder) {
    dataset_free(&folder->train);
    dataset_free(&folder->test);
    data_folder_remove(folder->path);
}

START_TEST(two_pairs_of_files_are_train_and_test) {
    Folder folder;
    data_folder_new(folder.path);
    DataBytes images = data_images(6, 5, 4);
    data_write(folder.path, DATA_TRAIN_IMAGES ".gz", data_gzip(images.at, images.size));
    data_write(folder.path, DATA_TRAIN_LABELS, data_labels(6));
    data_write(folder.path, DATA_TEST_IMAGES, data_images(3, 5, 4));
    data_write(folder.path, DATA_TEST_LABELS, data_labels(3));
    ck_assert_msg(read_folder(&folder) == STATUS_OK, "%s", error_message());
    ck_assert(!folder.was_split);
    ck_assert_int_eq(folder.train.count, 6);
    ck_assert_int_eq(folder.test.count, 3);
    ck_assert_int_eq(folder.train.rows, 5);
    ck_assert_int_eq(folder.train.columns, 4);
    ck_assert_int_eq(folder.train.classes, 10);
    ck_assert_str_eq(folder.train.name, folder.path);
    ck_assert_mem_eq(folder.train.images, images.at + 16, 6 * 5 * 4);
    ck_assert_int_eq(folder.train.labels[5], 5);
    end_folder(&folder);
}
END_TEST

START_TEST(of_one_pair_the_last_fifth_is_the_test) {
    Folder folder;
    data_folder_new(folder.path);
    DataBytes images = data_images(11, 2, 2);
    data_write(folder.path, DATA_TEST_IMAGES, images);
    data_write(folder.path, DATA_TEST_LABELS, data_labels(11));
    ck_assert_msg(read_folder(&folder) == STATUS_OK, "%s", error_message());
    ck_assert(folder.was_split);
    ck_assert_int_eq(folder.train.count, 9);
    ck_assert_int_eq(folder.test.count, 2);
    ck_assert_mem_eq(folder.test.images, images.at + 16 + 9 * 4, 2 * 4);
    ck_assert_int_eq(folder.test.labels[0], 9);
    end_folder(&folder);
}
END_TEST

// Each folder's mistake: its two files (NULL: absent), and the text in the message.
START_TEST(folders_that_do_not_fit_are_refused_with_a_reason) {
    Folder folder;
    data_folder_new(folder.path);
    DataBytes wrong_label = data_labels(8);
    wrong_label.at[8 + 6] = 12;
    const struct {
        bool has_images, has_labels;
        DataBytes images, labels;
        Status status;
        const char *message;
    } cases[] = {
        {false, false, {0}, {0}, STATUS_IO, "holds neither " DATA_TRAIN_IMAGES},
        {true, false, data_images(8, 2, 2), {0}, STATUS_IO, DATA_TRAIN_LABELS "[.gz] is missing"},
        {false, true, {0}, data_labels(8), STATUS_IO, DATA_TRAIN_IMAGES "[.gz] is missing"},
        {true, true, data_images(8, 2, 2), data_labels(7), STATUS_FORMAT, "7 labels for 8 images"},
        {true, true, data_images(8, 2, 2), wrong_label, STATUS_FORMAT, "label 12 at index 6"},
        {true, true, data_labels(8), data_labels(8), STATUS_FORMAT, "holds no images"},
        {true, true, data_images(8, 2, 2), data_images(8, 2, 2), STATUS_FORMAT, "has 3 dimensions"},
        {true, true, data_images(4, 2, 2), data_labels(4), STATUS_FORMAT, "too few to hold out"},
        {true, true, data_images(0, 2, 2), data_labels(0), STATUS_FORMAT, "holds no images"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cases[i].has_images) data_write(folder.path, DATA_TRAIN_IMAGES, cases[i].images);
        if (cases[i].has_labels) data_write(folder.path, DATA_TRAIN_LABELS, cases[i].labels);
        data_expect_error(read_folder(&folder), cases[i].status, cases[i].message);
        ck_assert_ptr_null(folder.train.images);
        ck_assert_ptr_null(folder.test.images);
        unlink(data_path(folder.path, DATA_TRAIN_IMAGES));
        unlink(data_path(folder.path, DATA_TRAIN_LABELS));
    }
    data_folder_remove(folder.path);
    data_expect_error(read_folder(&folder), STATUS_IO, "No such file");
}
END_TEST

START_TEST(train_and_test_have_images_of_one_size) {
    Folder folder;
    data_folder_new(folder.path);
    data_write(folder.path, DATA_TRAIN_IMAGES, data_images(8, 2, 2));
    data_write(folder.path, DATA_TRAIN_LABELS, data_labels(8));
    data_write(folder.path, DATA_TEST_IMAGES, data_images(8, 2, 3));
    data_write(folder.path, DATA_TEST_LABELS, data_labels(8));
    data_expect_error(read_folder(&folder), STATUS_FORMAT,
                      "train images are 2 x 2, test images 2 x 3");
    ck_assert_ptr_null(folder.train.images);
    ck_assert_ptr_null(folder.test.images);
    data_folder_remove(folder.path);
}
END_TEST

START_TEST(mnist_is_read_whole) {
    const char *path = getenv("RIDGEPOINT_MNIST");
    Folder folder;
    snprintf(folder.path, DATA_PATH, "%s", path ? path : "../shared/data/mnist");
    if (access(data_path(folder.path, DATA_TEST_IMAGES ".gz"), R_OK)) {
        test_skip("no MNIST: set RIDGEPOINT_MNIST to a folder with its test files");
    }
    ck_assert_msg(read_folder(&folder) == STATUS_OK, "%s", error_message());
    static const int64_t known[10] = {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009};
    int64_t counts[10] = {0};
    const Dataset *parts[] = {&folder.train, &folder.test};
    double sum = 0.0;
    for (int part = folder.was_split ? 0 : 1; part < 2; part++) {
        const Dataset *dataset = parts[part];
        for (int64_t i = 0; i < dataset->count; i++) counts[dataset->labels[i]]++;
        for (int64_t i = 0; i < dataset->count * 784; i++) sum += dataset->images[i];
    }
    ck_assert_mem_eq(counts, known, sizeof known);
    ck_assert_double_eq_tol(sum / (10000.0 * 784 * 255), 0.13251, 0.00001);
    dataset_free(&folder.train);
    dataset_free(&folder.test);
}
END_TEST

START_TEST(a_failing_allocation_leaves_both_datasets_empty) {
    Folder folder;
    data_folder_new(folder.path);
    data_write(folder.path, DATA_TEST_IMAGES, data_images(11, 2, 2));
    data_write(folder.path, DATA_TEST_LABELS, data_labels(11));
    Status status = STATUS_OUT_OF_MEMORY;
    uint64_t nth = 0;
    while (status == STATUS_OUT_OF_MEMORY) {
        memory_fail_at(++nth);
        status = read_folder(&folder);
        memory_fail_at(0);
        ck_assert_int_eq(error_status(), status);
        ck_assert((status == STATUS_OK) == (folder.train.images != NULL));
        ck_assert((status == STATUS_OK) == (folder.test.images != NULL));
        error_clear();
    }
    ck_assert_int_eq(status, STATUS_OK);
    ck_assert_uint_gt(nth, 5);
    end_folder(&folder);
}
END_TEST

// ---- splitting ---------------------------------------------------------------------------------

START_TEST(a_split_moves_every_image_with_its_label) {
    Dataset dataset, rest;
    ck_assert_int_eq(digits_generate(40, 3, &dataset), STATUS_OK);
    Dataset whole;
    ck_assert_int_eq(digits_generate(40, 3, &whole), STATUS_OK);
    ck_assert_int_eq(dataset_split(&dataset, 12, (uint64_t)_i, &rest), STATUS_OK);
    ck_assert_int_eq(dataset.count, 28);
    ck_assert_int_eq(rest.count, 12);
    ck_assert_str_eq(rest.name, whole.name);
    int unmoved = 0;
    bool found[40] = {false};
    for (int64_t i = 0; i < 40; i++) {
        const Dataset *part = i < 28 ? &dataset : &rest;
        int64_t at = i < 28 ? i : i - 28;
        int64_t k = 0;
        while (k < 40 && memcmp(whole.images + k * 784, part->images + at * 784, 784) != 0) k++;
        ck_assert_int_lt(k, 40);
        ck_assert_int_eq(part->labels[at], whole.labels[k]);
        ck_assert(!found[k]);
        found[k] = true;
        unmoved += k == i;
    }
    ck_assert(_i == 0 ? unmoved == 40 : unmoved < 10);
    dataset_free(&dataset);
    dataset_free(&rest);
    dataset_free(&whole);
}
END_TEST

START_TEST(an_impossible_split_changes_nothing) {
    Dataset dataset, rest;
    ck_assert_int_eq(digits_generate(10, 3, &dataset), STATUS_OK);
    data_expect_error(dataset_split(&dataset, 11, 0, &rest), STATUS_INVALID_ARGUMENT, "11 of 10");
    data_expect_error(dataset_split(&dataset, -1, 0, &rest), STATUS_INVALID_ARGUMENT, "-1 of 10");
    for (uint64_t nth = 1; nth <= 5; nth++) { // allocations: order, 2 x images, 2 x labels
        memory_fail_at(nth);
        ck_assert_int_eq(dataset_split(&dataset, 4, 1, &rest), STATUS_OUT_OF_MEMORY);
        error_clear();
        ck_assert_int_eq(dataset.count, 10);
        ck_assert_ptr_null(rest.images);
    }
    dataset_free(&dataset);
}
END_TEST

// ---- digits ------------------------------------------------------------------------------------

START_TEST(every_digit_comes_equally_often) {
    Dataset dataset;
    ck_assert_int_eq(digits_generate(500, 1, &dataset), STATUS_OK);
    int counts[10] = {0}, in_order = 0;
    for (int i = 0; i < 500; i++) {
        ck_assert_int_lt(dataset.labels[i], 10);
        counts[dataset.labels[i]]++;
        in_order += dataset.labels[i] == i % 10;
    }
    for (int digit = 0; digit < 10; digit++) ck_assert_int_eq(counts[digit], 50);
    ck_assert_int_lt(in_order, 100); // 50 expected by chance
    dataset_free(&dataset);
}
END_TEST

START_TEST(an_image_depends_on_the_seed_and_its_index_alone) {
    Dataset some, more, other;
    ck_assert_int_eq(digits_generate(23, 5, &some), STATUS_OK);
    ck_assert_int_eq(digits_generate(64, 5, &more), STATUS_OK);
    ck_assert_int_eq(digits_generate(23, 6, &other), STATUS_OK);
    ck_assert_mem_eq(some.images, more.images, 23 * 784);
    ck_assert_mem_eq(some.labels, more.labels, 23);
    for (int i = 0; i < 23; i++) {
        ck_assert_mem_ne(some.images + i * 784, other.images + i * 784, 784);
        for (int k = 0; k < i; k++) {
            ck_assert_mem_ne(some.images + i * 784, some.images + k * 784, 784);
        }
    }
    dataset_free(&some);
    dataset_free(&more);
    dataset_free(&other);
}
END_TEST

// Every image has dark paper and bright ink, and its ink is near the middle.
START_TEST(every_image_shows_something) {
    Dataset dataset;
    ck_assert_int_eq(digits_generate(2000, 9, &dataset), STATUS_OK);
    for (int64_t i = 0; i < dataset.count; i++) {
        const uint8_t *image = dataset.images + i * 784;
        int dark = 0, bright = 0, middle = 0;
        for (int p = 0; p < 784; p++) {
            int row = p / 28, column = p % 28;
            dark += image[p] < 80;
            bright += image[p] > 120;
            middle += image[p] > 120 && row >= 4 && row < 24 && column >= 4 && column < 24;
        }
        ck_assert_msg(dark > 392 && bright > 15 && 2 * middle > bright,
                      "image %d: %d dark, %d bright, %d of them in the middle", (int)i, dark,
                      bright, middle);
    }
    dataset_free(&dataset);
}
END_TEST

START_TEST(digits_that_cannot_be_drawn_are_an_error) {
    Dataset dataset;
    data_expect_error(digits_generate(0, 1, &dataset), STATUS_INVALID_ARGUMENT, "0 images");
    data_expect_error(digits_generate(INT64_MAX, 1, &dataset), STATUS_INVALID_ARGUMENT, "images");
    for (uint64_t nth = 1; nth <= 2; nth++) {
        memory_fail_at(nth);
        ck_assert_int_eq(digits_generate(10, 1, &dataset), STATUS_OUT_OF_MEMORY);
        error_clear();
        ck_assert_ptr_null(dataset.images);
        ck_assert_ptr_null(dataset.labels);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{two_pairs_of_files_are_train_and_test, 0},
                                 {of_one_pair_the_last_fifth_is_the_test, 0},
                                 {folders_that_do_not_fit_are_refused_with_a_reason, 0},
                                 {train_and_test_have_images_of_one_size, 0},
                                 {mnist_is_read_whole, 0},
                                 {a_failing_allocation_leaves_both_datasets_empty, 0},
                                 {a_split_moves_every_image_with_its_label, 3},
                                 {an_impossible_split_changes_nothing, 0},
                                 {every_digit_comes_equally_often, 0},
                                 {an_image_depends_on_the_seed_and_its_index_alone, 0},
                                 {every_image_shows_something, 0},
                                 {digits_that_cannot_be_drawn_are_an_error, 0},
                                 {NULL, 0}};
    return harness_main("data", tests);
}
