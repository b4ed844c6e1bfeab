# tests/rules.mk -- the test programs, one per topic, and all that runs them: sanitizers, valgrind,
# benchmarks, fuzzing. No list names a file: a test lies in the folder of its room, tests/ROOM/ or one
# further down, and what is neither a test nor in a folder of its own kind is a helper of all of them.
.PHONY: test test-programs asan tsan valgrind bench fuzz fuzz-short fuzz-long fuzz-corpus fuzz-programs \
    check-readme

TEST_SOURCES := $(wildcard tests/*/test_*.c tests/*/*/test_*.c)
# A test that changes ONNX files reads and writes them by protobuf-c.
CHANGES_ONNX := $(addprefix tests/layers/test_onnx_,constants.c partial.c)
TEST_SOURCES := $(filter-out $(if $(FOUND_PROTOC),,$(CHANGES_ONNX)),$(TEST_SOURCES))
FUZZ_ONNX := tests/fuzz/fuzz_onnx.c $(wildcard tests/fuzz/onnx_*.c)
$(call objects,$(CHANGES_ONNX) $(FUZZ_ONNX)): $(ONNX_GENERATED)
$(call objects,$(CHANGES_ONNX) $(FUZZ_ONNX)): CPPFLAGS += -I$(GENERATED) $(PROTOBUF_CFLAGS)
# A fuzz program is linked with what lies beside it, and with what the tests have made up for it.
FUZZ_SOURCES := $(filter-out $(if $(FOUND_PROTOC),,$(FUZZ_ONNX)),$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_HELPER_SOURCES := $(filter-out $(wildcard tests/fuzz/fuzz_*.c) $(if $(FOUND_PROTOC),,$(FUZZ_ONNX)),\
    $(wildcard tests/fuzz/*.c))
# A benchmark compares with the same work by hand, over OpenBLAS: without it there is none.
BENCH_SOURCES := $(if $(filter openblas,$(BLAS)),$(wildcard tests/bench/bench_*.c))
BENCH_HELPER_SOURCES := $(if $(BENCH_SOURCES),$(filter-out $(BENCH_SOURCES),$(wildcard tests/bench/*.c)))
HELPER_SOURCES := $(filter-out $(TEST_SOURCES) %_call.c \
    $(addprefix tests/,bench/% fixtures/% fuzz/% guest/% plugins/% readme/%),$(wildcard tests/*/*.c tests/*/*/*.c))
SOURCES += $(TEST_SOURCES) $(BENCH_SOURCES) $(FUZZ_SOURCES) $(HELPER_SOURCES) $(BENCH_HELPER_SOURCES) \
    $(FUZZ_HELPER_SOURCES)

# What only tests use is compiled with Check's flags as well; benchmarks and fuzz programs do
# without Check. Compiling the tests is most of the work, so they are optimized less than what they
# test, and a debugger knows their lines and not their variables (make CFLAGS=-g).
$(BUILD)/tests/%.o: private OPTIMIZE_VARIANT := $(patsubst -g,-g1,$(OPTIMIZE_VARIANT:-O3=-O1))
$(BUILD)/tests/bench/%.o: private OPTIMIZE_VARIANT := $(OPTIMIZE_VARIANT)
$(BUILD)/tests/%.o: tests/%.c $(BUILD)/command
	@$(if $(CHECK_LIBS)$(filter $(BUILD)/tests/bench/% build/fuzz/%,$@),:,echo "Check, which the tests need, is missing: make setup"; exit 1)
	$(call compile,$(COMPILE) $(CHECK_CFLAGS))

HELPERS := $(BUILD)/tests/libhelpers.a
$(HELPERS): $(call objects,$(HELPER_SOURCES) $(PROGRAM_SOURCES)) $(BUILD)/sources

FUZZ_HELPERS := $(BUILD)/tests/libfuzz.a
$(FUZZ_HELPERS): $(call objects,$(FUZZ_HELPER_SOURCES) $(PROGRAM_SOURCES)) $(BUILD)/sources

# Programs lie side by side, whatever room their source is in.
programs = $(addprefix $(BUILD)/tests/,$(basename $(notdir $(1))))
tests_of = $(addprefix $(BUILD)/tests/test_,$(1))
TEST_PROGRAMS := $(call programs,$(TEST_SOURCES))
FUZZ_PROGRAMS := $(call programs,$(FUZZ_SOURCES))
BENCH_PROGRAMS := $(call programs,$(BENCH_SOURCES))
$(foreach source,$(TEST_SOURCES) $(FUZZ_SOURCES) $(BENCH_SOURCES),\
    $(eval $(call programs,$(source)): $(call objects,$(source))))

$(TEST_PROGRAMS): $(HELPERS) $(EXERCISES) $(LIBRARY)
	$(call link,$(LIBS) $(CHECK_LIBS))
$(FUZZ_PROGRAMS): $(FUZZ_HELPERS) $(EXERCISES) $(LIBRARY)
	$(call link,-fsanitize=fuzzer $(LIBS))
$(BENCH_PROGRAMS): $(call objects,$(BENCH_HELPER_SOURCES)) $(LIBRARY) $(BUILD)/sources
	$(call link,$(LIBS))

# A library that a test opens at run time.
SAMPLE_PLUGIN := $(BUILD)/tests/plugins/libsample.so
$(SAMPLE_PLUGIN): tests/plugins/sample.c $(BUILD)/command
	@mkdir -p $(@D)
	@$(COMPILE) -fPIC -shared -MMD -MP -o $@ $<
-include $(SAMPLE_PLUGIN:.so=.d)
$(call tests_of,plugin): | $(SAMPLE_PLUGIN)

# The installation that its test installs; a sanitizer's is for nobody else's program.
$(if $(filter asan tsan,$(VARIANT)),,$(call tests_of,guest)): | installable

# What the tests of one room need beyond that.
include $(sort $(wildcard tests/*/rules.mk))

# ---- running -----------------------------------------------------------------------------------
# What the sanitizers and valgrind find is only true without the caches, and they are slow. Each
# variant may choose its topics; TEST names others. (Where a library opened at run time has variables
# of each thread, the sanitizer guesses their place from their address, and may die at exit.)
TEST_ENVIRONMENT_asan := RIDGEPOINT_ALLOC=raw CK_TIMEOUT_MULTIPLIER=8 \
    ASAN_OPTIONS=detect_stack_use_after_return=1:intercept_tls_get_addr=0 \
    UBSAN_OPTIONS=print_stacktrace=1
# All but four that take minutes there: they run the kernels that other topics run, in other orders
# or in larger networks.
TOPICS_asan = $(filter-out cuda_networks cuda_orders cuda_support zoo_steps,$(ALL_TOPICS))
# OpenBLAS is not instrumented and would start threads of its own; TSan does not follow fork.
TEST_ENVIRONMENT_tsan := RIDGEPOINT_ALLOC=raw CK_FORK=no TEST_SECONDS=600 OPENBLAS_NUM_THREADS=1
TOPICS_tsan := pool context loader prefetch
TEST_ENVIRONMENT_valgrind := RIDGEPOINT_ALLOC=raw CK_TIMEOUT_MULTIPLIER=20 \
    OPENBLAS_NUM_THREADS=1 TEST_WRAPPER='valgrind -q --leak-check=full \
    --errors-for-leak-kinds=definite --error-exitcode=99'
TOPICS_valgrind := scope tape faults

# Topics without a program are left out of a list above; in TEST they are a mistake.
ALL_TOPICS := $(sort $(patsubst $(BUILD)/tests/test_%,%,$(TEST_PROGRAMS) $(EMULATOR_TEST_PROGRAMS)))
UNKNOWN_TOPICS := $(and $(filter test asan tsan valgrind,$(MAKECMDGOALS)),$(strip \
    $(filter-out $(ALL_TOPICS),$(TEST))))
$(if $(UNKNOWN_TOPICS),$(error TEST=$(UNKNOWN_TOPICS) is no topic; the topics are: $(ALL_TOPICS)))
# What takes longest begins first, so that no processor waits for it in the end.
LONGEST := profile_training cuda_orders machine cuda ops profile_diff_program cuda_support \
    cuda_failures zoo_steps guest profile_stop probe
longest_first = $(foreach topic,$(LONGEST),$(filter $(topic),$(1))) $(filter-out $(LONGEST),$(1))
topic_programs = $(call tests_of,$(call longest_first,$(or $(TEST),$(if $(TOPICS_$(1)),\
    $(filter $(TOPICS_$(1)),$(ALL_TOPICS)),$(ALL_TOPICS)))))
run_tests = $(TEST_ENVIRONMENT_$(1)) $(TOOLS)/run_tests $(call topic_programs,$(1))

test-programs: $(TEST_PROGRAMS) $(EMULATOR_TEST_PROGRAMS) $(BENCH_PROGRAMS)

test: $(PROGRAMS) $(call topic_programs,$(VARIANT)) ## run the tests; TEST="pool idx": only these topics; SKIPS=1: each that skips
	@$(call run_tests,$(VARIANT))

asan: ## the tests under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory VARIANT=asan test
tsan: ## the tests that use threads under ThreadSanitizer
	@$(MAKE) --no-print-directory VARIANT=tsan test

valgrind: $(call topic_programs,valgrind) ## some tests under valgrind; TEST= names others
	@$(call run_tests,valgrind)

bench: $(filter-out %/bench_cuda,$(BENCH_PROGRAMS)) ## ours, by hand, PyTorch; RIDGEPOINT_BENCH_SECONDS=60
	@$(if $^,:,echo "bench: needs OpenBLAS, to do the same work by hand"; exit 1)
	@for program in $^; do ./$$program || exit 1; done

# clang's libFuzzer feeds each reader its corpus (tests/fuzz/corpus), then what it makes of that.
FUZZ_SECONDS ?= 60
FUZZ_TOPICS := $(patsubst tests/fuzz/fuzz_%.c,%,$(FUZZ_SOURCES))
FUZZ ?= $(FUZZ_TOPICS)
UNKNOWN_FUZZ := $(and $(filter fuzz fuzz-short fuzz-long fuzz-corpus,$(MAKECMDGOALS)),$(filter-out \
    $(FUZZ_TOPICS),$(FUZZ)))
$(if $(UNKNOWN_FUZZ),$(error FUZZ=$(UNKNOWN_FUZZ): nothing of that name is fuzzed; there are: $(FUZZ_TOPICS)))
define run_fuzz
@echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -fsanitize=fuzzer -x c - -o /dev/null || \
    { echo "$@: clang or its libFuzzer is missing: apt-get install clang libclang-rt-dev"; exit 1; }
@+$(MAKE) --no-print-directory VARIANT=fuzz CC=clang fuzz-programs
@$(TOOLS)/fuzz $(1) $(FUZZ:%=build/fuzz/tests/fuzz_%)
endef
fuzz: ## feed made-up input to the readers (clang); FUZZ_SECONDS=60 each, FUZZ="onnx idx": only these
	$(call run_fuzz,$(FUZZ_SECONDS))
fuzz-short: ## the same inputs on every machine, of about twenty seconds each (tests/fuzz/fixed_runs)
	$(call run_fuzz,fixed)
fuzz-long: ## the same for an hour in all
	$(call run_fuzz,all 3600)
fuzz-corpus: ## add the inputs that the last of these found to tests/fuzz/corpus, where they reach further
	$(call run_fuzz,merge)
fuzz-programs: $(FUZZ:%=$(BUILD)/tests/fuzz_%)

check-readme: $(LIBRARY) $(HEADERS) $(PROGRAMS) ## run the code that the READMEs show
	@CC='$(CC)' $(TOOLS)/check_readme '$(PROGRAM_FOLDER)' $(LIBRARY) $(LIBS) -lpthread
