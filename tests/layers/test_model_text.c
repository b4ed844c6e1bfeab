// test_model_text.c -- models as text: the models that texts make, compared with PyTorch, and
// files. test_model_text_errors.c tests refusals.
#include "layers/files/model_text.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/support/layer_shape.h"
#include "layers/containers.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/work_folder.h"

static Layer *model_of(const char *text, Shape *input) {
    context_set_device(device_meta());
    Layer *model = model_text_read(text, input);
    ck_assert_msg(model != NULL, "\"%s\": %s", text, error_message());
    return model;
}

static int64_t attribute(const Layer *layer, const char *name) {
    int64_t value = -1;
    ck_assert_msg(layer_attribute(layer, name, &value), "no attribute %s", name);
    return value;
}

// ---- models from text -------------------------------------------------------------------------
START_TEST(a_chain_is_a_sequential_with_numbered_children) {
    static const char *const types[] = {"Linear", "ReLU", "Linear"};
    Shape input;
    Layer *model = model_of("Linear(784,512) ReLU Linear(512,10,bias=false) @ 64x784", &input);
    ck_assert(shape_equal(input, SHAPE(64, 784)));
    ck_assert_str_eq(model->type->name, "Sequential");
    ck_assert_int_eq(model->n_children, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(model->children[i]->type->name, types[i]);
        ck_assert_int_eq(atoi(model->children[i]->name), i);
    }
    ck_assert_int_eq(attribute(model->children[0], "in_features"), 784);
    ck_assert_int_eq(attribute(model->children[0], "bias"), 1);
    ck_assert_int_eq(attribute(model->children[2], "bias"), 0);
    ck_assert_int_eq(layer_parameter_count(model), 784 * 512 + 512 + 512 * 10);
    layer_free(model);
}
END_TEST

START_TEST(one_layer_stands_for_itself_and_spaces_do_not_matter) {
    Shape input;
    Layer *model = model_of("  Linear ( 4 , out_features = 3 )@2x7x4 ", &input);
    ck_assert_str_eq(model->type->name, "Linear");
    ck_assert_str_eq(model->name, "");
    ck_assert(shape_equal(input, SHAPE(2, 7, 4)));
    layer_free(model);
    model = model_of("Tanh", &input);
    ck_assert_int_eq(input.ndim, 0);
    layer_free(model);
}
END_TEST

START_TEST(sequentials_nest_and_may_be_empty) {
    Shape input;
    Layer *model = model_of("Sequential(Linear(4,4) Sequential() Tanh) Linear(4,2)", &input);
    ck_assert_int_eq(model->n_children, 2);
    ck_assert_int_eq(model->children[0]->n_children, 3);
    ck_assert_int_eq(model->children[0]->children[1]->n_children, 0);
    layer_free(model);
}
END_TEST

START_TEST(options_of_convolutions_and_pools_go_to_their_sides) {
    Shape input;
    Layer *model =
        model_of("Conv2d(6,9,5,stride=2,padding=1,dilation=4,groups=3,bias=false) MaxPool2d(2) "
                 "AvgPool2d(3,stride=1,padding=1)",
                 &input);
    const Layer *conv = model->children[0], *max = model->children[1], *avg = model->children[2];
    ck_assert_int_eq(attribute(conv, "in_channels"), 6);
    ck_assert_int_eq(attribute(conv, "out_channels"), 9);
    ck_assert_int_eq(attribute(conv, "kernel_w"), 5);
    ck_assert_int_eq(attribute(conv, "stride_h"), 2);
    ck_assert_int_eq(attribute(conv, "padding_bottom"), 1);
    ck_assert_int_eq(attribute(conv, "dilation_w"), 4);
    ck_assert_int_eq(attribute(conv, "groups"), 3);
    ck_assert_int_eq(attribute(conv, "bias"), 0);
    ck_assert_int_eq(attribute(max, "stride_w"), 2); // the kernel's size by default
    ck_assert_int_eq(attribute(max, "padding_top"), 0);
    ck_assert_int_eq(attribute(avg, "stride_h"), 1);
    ck_assert_int_eq(attribute(avg, "padding_right"), 1);
    layer_free(model);
}
END_TEST

// Each side has its own word; the more specific word wins, wherever it stands.
START_TEST(the_sides_of_a_window_may_differ) {
    static const struct {
        const char *text;
        int64_t kernel_h, kernel_w, stride_h, stride_w, top, bottom, left, right;
    } rows[] = {{"Conv2d(2,3,5,kernel_w=3,stride_h=2,padding_left=1)", 5, 3, 2, 1, 0, 0, 1, 0},
                {"Conv2d(2,3,kernel_h=1,kernel_w=7,stride=3,stride_w=2)", 1, 7, 3, 2, 0, 0, 0, 0},
                {"Conv2d(2,3,5,padding_bottom=9,padding=2,padding_w=4)", 5, 5, 1, 1, 2, 9, 4, 4},
                {"MaxPool2d(6,kernel_w=4,stride_w=5,padding_h=3,padding_top=1)", 6, 4, 6, 5, 1, 3,
                 0, 0},
                {"AvgPool2d(kernel_w=4,kernel_h=2,padding_right=2)", 2, 4, 2, 4, 0, 0, 0, 2}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Shape input;
        Layer *layer = model_of(rows[i].text, &input);
        ck_assert_int_eq(attribute(layer, "kernel_h"), rows[i].kernel_h);
        ck_assert_int_eq(attribute(layer, "kernel_w"), rows[i].kernel_w);
        ck_assert_int_eq(attribute(layer, "stride_h"), rows[i].stride_h);
        ck_assert_int_eq(attribute(layer, "stride_w"), rows[i].stride_w);
        ck_assert_int_eq(attribute(layer, "padding_top"), rows[i].top);
        ck_assert_int_eq(attribute(layer, "padding_bottom"), rows[i].bottom);
        ck_assert_int_eq(attribute(layer, "padding_left"), rows[i].left);
        ck_assert_int_eq(attribute(layer, "padding_right"), rows[i].right);
        layer_free(layer);
    }
    Shape input;
    Layer *model =
        model_of("Conv2d(1,1,3,dilation_w=2) MaxPool2d(3,dilation=2,dilation_h=4)", &input);
    ck_assert_int_eq(attribute(model->children[0], "dilation_h"), 1);
    ck_assert_int_eq(attribute(model->children[0], "dilation_w"), 2);
    ck_assert_int_eq(attribute(model->children[1], "dilation_h"), 4);
    ck_assert_int_eq(attribute(model->children[1], "dilation_w"), 2);
    layer_free(model);
}
END_TEST

START_TEST(a_number_before_a_layer_says_how_often) {
    Shape input;
    Layer *model = model_of("2*Linear(3,3) Sequential( 3 * Sequential(2*ReLU) )4*Tanh@1x3", &input);
    ck_assert_int_eq(model->n_children, 7);
    ck_assert_int_eq(model->children[2]->n_children, 3);
    ck_assert_int_eq(model->children[2]->children[1]->n_children, 2);
    ck_assert_str_eq(model->children[6]->name, "6");
    ck_assert_str_eq(model->children[6]->type->name, "Tanh");
    ck_assert(model->children[0]->parameters[0].tensor != model->children[1]->parameters[0].tensor);
    layer_free(model);
    model = model_of("1*ReLU", &input);
    ck_assert_str_eq(model->type->name, "Sequential");
    ck_assert_int_eq(model->n_children, 1);
    layer_free(model);
    model = model_of("1023*ReLU", &input);
    ck_assert_int_eq(model->n_children, 1023);
    layer_free(model);
}
END_TEST

START_TEST(ties_and_freezes_name_paths) {
    Shape input;
    Layer *model = model_of("Linear(8,8) Sequential(Linear(8,8) ReLU) tie(1.0.weight, 0.weight) "
                            "freeze(1) freeze(0.bias) @ 1x8",
                            &input);
    const Layer *first = model->children[0], *second = model->children[1]->children[0];
    ck_assert_ptr_eq(first->parameters[0].tensor, second->parameters[0].tensor);
    ck_assert_int_eq(layer_parameter_count(model), 64 + 8 + 8);
    ck_assert_int_eq(layer_trainable_count(model), 0);
    layer_free(model);
    model = model_of("Linear(8,8) freeze(bias)", &input);
    ck_assert_int_eq(layer_trainable_count(model), 64);
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(a_residual_adds_what_goes_in) {
    Shape input;
    Layer *model = model_text_read("Residual(ReLU ReLU) @ 1x3", &input);
    ck_assert_str_eq(model->type->name, "Residual");
    Tensor *x = tensor_from_floats_new(input, (const float[]){-1, 2, 3});
    Scope *scope = scope_open();
    expect_values(layer_forward(model, x), -1, 4, 6);
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(a_model_of_50000_by_50000_takes_no_memory_on_meta) {
    Shape input;
    Layer *model = model_of("Linear(50000,50000,bias=false) @ 1x50000", &input);
    ck_assert_int_eq(layer_parameter_count(model), INT64_C(2500000000));
    layer_free(model);
}
END_TEST

START_TEST(a_name_before_a_colon_is_the_child_s) {
    static const char *const paths[] = {"conv1.weight", "conv1.bias",  "1.weight",
                                        "1.bias",       "3.fc.weight", "3.fc.bias"};
    Shape input;
    ParameterList list;
    Layer *model = model_of("conv1 : Conv2d(3,4,3) # a name: with a colon\n"
                            "Conv2d(4,4,3)\n\tFlatten\r\n"
                            "Sequential(fc:Linear(4,2)) tie(1.bias,conv1.bias) @ 1x3x5x5",
                            &input);
    ck_assert_int_eq(layer_state(model, &list), STATUS_OK);
    ck_assert_int_eq(list.count, 6);
    for (int i = 0; i < list.count; i++) ck_assert_str_eq(list.items[i].path, paths[i]);
    ck_assert_ptr_eq(list.items[1].tensor, list.items[3].tensor);
    parameter_list_free(&list);
    layer_free(model);
    model = model_of("head: ReLU", &input); // a name makes it a child
    ck_assert_str_eq(model->type->name, "Sequential");
    ck_assert_str_eq(model->children[0]->name, "head");
    layer_free(model);
}
END_TEST

// Layers whose print is not PyTorch's: every argument, each with a value of its own.
static const char *const argument_rows[][2] = {
    {"Linear(4,6,activation=GELU)", "in_features=4, out_features=6, bias=true, activation=gelu"},
    {"BatchNorm2d(3,0.25,0.5,false)",
     "num_features=3, eps=0.25, momentum=0.5, affine=false, track_running_stats=true"},
    {"BatchNorm1d(3,momentum=1,track_running_stats=false)",
     "num_features=3, eps=1e-05, momentum=1, affine=true, track_running_stats=false"},
    {"GroupNorm(2,4,0.25,false)", "num_groups=2, num_channels=4, eps=0.25, affine=false"},
    {"LSTM(4,5,2,false,true,0.25,true)",
     "input_size=4, hidden_size=5, num_layers=2, bias=false, batch_first=true, dropout=0.25, "
     "bidirectional=true"},
    {"GRU(4,5,num_layers=3)",
     "input_size=4, hidden_size=5, num_layers=3, bias=true, batch_first=false, dropout=0, "
     "bidirectional=false"},
    {"RNN(4,5,2,relu,false,true,0.25,true)",
     "input_size=4, hidden_size=5, num_layers=2, bias=false, batch_first=true, dropout=0.25, "
     "bidirectional=true, relu=true"},
    {"RNN(4,5,nonlinearity=tanh)",
     "input_size=4, hidden_size=5, num_layers=1, bias=true, batch_first=false, dropout=0, "
     "bidirectional=false, relu=false"},
    {"AdaptiveAvgPool2d(3,2)", "out_h=3, out_w=2"},
    {"MaxPool2d(4,ceil_mode=true)", "ceil_mode=true"},
    {"AvgPool2d(4,exclude_pad=true,ceil_mode=true)", "ceil_mode=true, exclude_pad=true"},
    {"AvgPool2d(4,ceil_mode=true)", "ceil_mode=true, exclude_pad=false"},
    {"AvgPool1d(4,3,2,padding_right=1,exclude_pad=true)",
     "kernel=4, stride=3, padding_left=2, padding_right=1, ceil_mode=false, "
     "exclude_pad=true"},
    {"LayerNorm(6,0.25,false)", "normalized_size=6, epsilon=0.25, affine=false"},
    {"RMSNorm(6,eps=0.25)", "normalized_size=6, eps=0.25, elementwise_affine=true"},
    {"InstanceNorm1d(6,0.25,true)", "num_features=6, eps=0.25, affine=true"},
    {"InstanceNorm2d(6,0.25)", "num_features=6, eps=0.25, affine=false"},
    {"Embedding(9,4)", "num_embeddings=9, embedding_dim=4"},
    {"MultiheadAttention(8,2,0.25,false,causal=true)",
     "embed_dim=8, num_heads=2, bias=false, dropout=0.25, causal=true, by_formula=false"},
    {"MultiheadAttention(8,4,by_formula=true)",
     "embed_dim=8, num_heads=4, bias=true, dropout=0, causal=false, by_formula=true"},
    {"MultiheadAttention(8,4,kdim=6,vdim=5)",
     "embed_dim=8, num_heads=4, bias=true, dropout=0, causal=false, by_formula=false, kdim=6, "
     "vdim=5"},
    {"PositionalEmbedding(9,4)", "count=9, features=4"},
    {"PositionalEncoding(9,4)", "count=9, features=4"},
    {"StochasticDepth(0.25)", "p=0.25"},
    {"LayerScale(4,0.5,spatial=2)", "channels=4"},
    {"Concat(-1; ReLU)", "dim=-1"},
    {"Concat(ReLU 2*Tanh)", "dim=1"},
    {"Concat(dim=2;)", "dim=2"},
};

START_TEST(arguments_reach_their_places) {
    for (size_t i = 0; i < sizeof argument_rows / sizeof argument_rows[0]; i++) {
        char text[400];
        Shape input;
        Layer *layer = model_of(argument_rows[i][0], &input);
        layer_attributes_text(layer, text, sizeof text);
        ck_assert_msg(strstr(text, argument_rows[i][1]) != NULL, "%s: %s", argument_rows[i][0],
                      text);
        layer_free(layer);
    }
}
END_TEST

START_TEST(blocks_are_put_together) {
    Shape input;
    Layer *block = model_of("SqueezeExcitation(8,2,activation=SiLU,gate=Hardsigmoid)", &input);
    ck_assert_str_eq(layer_find(block, "activation")->type->name, "SiLU");
    ck_assert_str_eq(layer_find(block, "scale_activation")->type->name, "Hardsigmoid");
    ck_assert_int_eq(attribute(layer_find(block, "fc1"), "out_channels"), 2);
    layer_free(block);
    context_set_device(device_cpu());
    Layer *layer = model_text_read("LayerScale(3,0.5,spatial=1) @ 1x3x2", &input);
    Tensor *x = tensor_full_new(input, 3.0f);
    Scope *scope = scope_open();
    expect_values(layer_forward(layer, x), 1.5f, 1.5f, 1.5f, 1.5f, 1.5f, 1.5f);
    scope_close(scope);
    tensor_free(x);
    layer_free(layer);
}
END_TEST

// Tries the smallest arguments that each layer may take.
START_TEST(every_layer_of_the_table_can_be_named) {
    static const char *const arguments[] = {"",      "()",    "(2)",     "(0.5)",
                                            "(4,2)", "(2,4)", "(4,2,3)", "(1,value=0.5)"};
    for (int i = 0; model_text_layer(i); i++) {
        char text[80];
        bool made = false;
        for (size_t j = 0; j < sizeof arguments / sizeof arguments[0] && !made; j++) {
            Shape input;
            snprintf(text, sizeof text, "%s%s", model_text_layer(i), arguments[j]);
            context_set_device(device_meta());
            Layer *model = model_text_read(text, &input);
            made = model && strcmp(model->type->name, model_text_layer(i)) == 0;
            layer_free(model);
            error_clear();
        }
        ck_assert_msg(made, "%s", model_text_layer(i));
        for (int j = 0; j < i; j++) ck_assert_str_ne(model_text_layer(i), model_text_layer(j));
    }
    ck_assert_ptr_null(model_text_layer(-1));
}
END_TEST

// ---- against PyTorch ---------------------------------------------------------------------------
static const char *next_line(FILE *file, const char *key, char line[1024]) {
    size_t length = strlen(key);
    if (!fgets(line, 1024, file)) return NULL;
    line[strcspn(line, "\n")] = '\0';
    ck_assert_msg(strncmp(line, key, length) == 0, "no \"%s\": %s", key, line);
    return line + length;
}

static void add_shape(char *text, size_t room, Shape shape) {
    size_t used = strlen(text);
    if (shape.ndim == 0) snprintf(text + used, room - used, "scalar");
    for (int i = 0; i < shape.ndim; i++, used = strlen(text))
        snprintf(text + used, room - used, "%s%lld", i ? "x" : "", (long long)shape.dims[i]);
}

static void expect_state(const Layer *model, const char *wanted) {
    char text[1024] = "";
    ParameterList list;
    ck_assert_int_eq(layer_state(model, &list), STATUS_OK);
    for (int i = 0; i < list.count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, " %s:", list.items[i].path);
        add_shape(text, sizeof text, list.items[i].tensor->shape);
    }
    parameter_list_free(&list);
    ck_assert_str_eq(text, wanted);
}

static void expect_printed(const Layer *model, FILE *file, int lines) {
    char line[1024], *printed = NULL, *at;
    size_t size;
    FILE *memory = open_memstream(&printed, &size);
    ck_assert_int_eq(layer_print(model, memory), STATUS_OK);
    fclose(memory);
    at = printed;
    for (int i = 0; i < lines; i++) {
        const char *wanted = next_line(file, "", line);
        size_t length = strcspn(at, "\n");
        at[length] = '\0';
        ck_assert_str_eq(at, wanted);
        at += length + 1;
    }
    ck_assert_int_eq(*at, '\0');
    free(printed);
}

// Cases of fixtures/make_model_text.py: equal prints, names, shapes and results.
START_TEST(a_text_is_pytorch_s_model) {
    char text[1024], line[1024];
    int cases = 0;
    FILE *file = fopen("tests/fixtures/model_text.txt", "r");
    ck_assert_msg(file != NULL, "tests/fixtures/model_text.txt: run the tests from the root");
    for (const char *given; (given = next_line(file, "text ", text)); cases++) {
        Shape input, shape;
        char out[100] = "";
        Layer *model = model_of(given, &input);
        ck_assert_int_eq(layer_output_shape(model, input, &shape), STATUS_OK);
        add_shape(out, sizeof out, shape);
        ck_assert_str_eq(out, next_line(file, "out ", line));
        expect_state(model, next_line(file, "state", line));
        int lines = atoi(next_line(file, "print ", line));
        if (lines > 0) expect_printed(model, file, lines);
        layer_free(model);
    }
    fclose(file);
    ck_assert_int_gt(cases, 20);
}
END_TEST

// ---- user-defined layers -----------------------------------------------------------------------
static Layer *make_wide(const double *a) {
    ck_assert(a[2] == 0.25 && a[4] == 1.0 && a[5] == 0.0);
    ck_assert_str_eq(model_text_activation(a[6])->module, "Tanh");
    ck_assert(a[7] == (a[1] == 2.0 ? 0.0 : a[1]));
    return a[1] == 1.0 ? linear_new((int64_t)a[0], (int64_t)a[3], true) : concat_new(3);
}
static Layer *make_relu(const double *a) { return (void)a, sequential_new(); }

START_TEST(a_program_s_own_layers_come_first) {
    static const ModelTextLayer own[] = {
        {"Wide",
         "size mode=narrow|wide|wider rate=real; width=size on=true off=false act=Tanh "
         "like=mode",
         make_wide, false},
        {"ReLU", "", make_relu, true},
        {.name = NULL},
    };
    Shape input;
    context_set_device(device_meta());
    Layer *model = model_text_read_with("Wide(7,wide,0.25) ReLU(Tanh)", &input, own);
    ck_assert_int_eq(attribute(model->children[0], "out_features"), 7);
    ck_assert_str_eq(model->children[1]->type->name, "Sequential");
    layer_free(model);
    model = model_text_read_with("Wide(7,wider,0.25,width=3,like=narrow)", &input, own);
    ck_assert_str_eq(model->type->name, "Concat");
    layer_free(model);
    static const char *const bad[] = {"Wide(7,wide)",
                                      "Wide(7,wid,0.25)",
                                      "Wide(7,mode,0.25)",
                                      "Wide(7,wider|,0.25)",
                                      "Wide(7,wide,0.25,act=Linear)",
                                      "Wide(7,wide,0.25,7)",
                                      "Wide(7,mode=wide,rat=1.0)"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_ptr_null(model_text_read_with(bad[i], &input, own));
        expect_error(STATUS_FORMAT, "line 1, column ");
    }
}
END_TEST

// ---- files -------------------------------------------------------------------------------------
static void write_file(const char *path, const char *text, size_t size) {
    FILE *file = fopen(path, "wb");
    ck_assert(file && fwrite(text, 1, size, file) == size && fclose(file) == 0);
}

START_TEST(a_file_is_read_as_its_text) {
    static const char text[] = "# LeNet's head\n"
                               "fc1: Linear(400, 120)\n"
                               "ReLU\n"
                               "fc2: Linear(120, 10) # logits\n"
                               "@ 2x400\n";
    Shape input;
    work_folder_begin();
    ck_assert_int_eq(chdir(work_folder), 0);
    context_set_device(device_meta());
    write_file("model.txt", text, sizeof text - 1);
    Layer *model = model_text_read_file("model.txt", &input);
    ck_assert_msg(model != NULL, "%s", error_message());
    ck_assert(shape_equal(input, SHAPE(2, 400)));
    ck_assert_ptr_nonnull(layer_find(model, "fc2"));
    layer_free(model);
    write_file("marked.txt", "\xEF\xBB\xBFReLU @ 2x4", 13); // with a UTF-8 byte order mark
    model = model_text_read_file("marked.txt", &input);
    ck_assert_msg(model != NULL, "%s", error_message());
    layer_free(model);
    // Texts about as long as a reader's first buffer; spaces do not matter.
    for (size_t size = 4090; size < 4100; size++) {
        char *padded = malloc(size);
        memset(padded, ' ', size);
        memcpy(padded + size - 7, "\nReLU @", 7);
        write_file("model.txt", padded, size);
        ck_assert_ptr_null(model_text_read_file("model.txt", &input));
        expect_error(STATUS_FORMAT, "model.txt: line 2, column 7: no shape");
        free(padded);
    }
    work_folder_end();
}
END_TEST

START_TEST(a_file_that_is_none_is_refused) {
    Shape input = SHAPE(1);
    work_folder_begin();
    ck_assert_int_eq(chdir(work_folder), 0);
    ck_assert_ptr_null(model_text_read_file("nowhere.txt", &input));
    ck_assert_int_eq(input.ndim, 0);
    expect_error(STATUS_IO, "nowhere.txt: No such file");
    ck_assert_ptr_null(model_text_read_file(".", &input));
    expect_error(STATUS_IO, ".: Is a directory");
    ck_assert_ptr_null(model_text_read_file("/dev/zero", &input));
    expect_error(STATUS_FORMAT, "/dev/zero: more than a mebibyte");
    for (size_t size = 1 << 20; size <= (1 << 20) + 1; size++) {
        char *spaces = malloc(size);
        memset(spaces, ' ', size);
        memcpy(spaces, "ReLU", 4);
        write_file("long.txt", spaces, size);
        Layer *model = model_text_read_file("long.txt", &input);
        ck_assert_int_eq(model != NULL, size == 1 << 20);
        layer_free(model);
        free(spaces);
    }
    expect_error(STATUS_FORMAT, "long.txt: more than a mebibyte");
    write_file("model.txt", "ReLU\0ReLU", 9);
    ck_assert_ptr_null(model_text_read_file("model.txt", &input));
    expect_error(STATUS_FORMAT, "model.txt: holds a byte of 0");
    write_file("model.txt", "\n\n  Linear(3,\n  4) Linnear(3,4)\n", 32);
    ck_assert_ptr_null(model_text_read_file("model.txt", &input));
    expect_error(STATUS_FORMAT, "model.txt: line 4, column 6: unknown layer, at \"Linnear(3,4)\"");
    write_file("model.txt", "\n\n", 2);
    ck_assert_ptr_null(model_text_read_file("model.txt", &input));
    expect_error(STATUS_FORMAT, "model.txt: line 3, column 1: a layer is missing, at \"\"");
    work_folder_end();
}
END_TEST

START_TEST(a_text_means_the_same_in_every_locale) {
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
        test_skip("no locale with a decimal comma is installed");
    ck_assert_str_eq(localeconv()->decimal_point, ",");
    Layer *model = model_text_read("Dropout(0.25) LayerScale(8,1.5e-3)", NULL);
    ck_assert_msg(model != NULL, "%s", error_message());
    ck_assert_str_eq(localeconv()->decimal_point, ","); // the program's locale is unchanged
    setlocale(LC_ALL, "C");
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_chain_is_a_sequential_with_numbered_children, 0},
        {one_layer_stands_for_itself_and_spaces_do_not_matter, 0},
        {sequentials_nest_and_may_be_empty, 0},
        {options_of_convolutions_and_pools_go_to_their_sides, 0},
        {the_sides_of_a_window_may_differ, 0},
        {a_number_before_a_layer_says_how_often, 0},
        {ties_and_freezes_name_paths, 0},
        {a_residual_adds_what_goes_in, 0},
        {a_model_of_50000_by_50000_takes_no_memory_on_meta, 0},
        {a_name_before_a_colon_is_the_child_s, 0},
        {arguments_reach_their_places, 0},
        {blocks_are_put_together, 0},
        {every_layer_of_the_table_can_be_named, 0},
        {a_text_is_pytorch_s_model, 0},
        {a_program_s_own_layers_come_first, 0},
        {a_file_is_read_as_its_text, 0},
        {a_file_that_is_none_is_refused, 0},
        {a_text_means_the_same_in_every_locale, 0},
        {NULL, 0},
    };
    return harness_main("model_text", tests);
}
