# Makefile -- builds the library, the programs and the tests; `make help` lists what it can do.
# What this machine has is found once by tests/tools/configure and kept in build/config.mk.
#
#     make VARIANT=asan test        another variant (normal, asan, tsan, pic), in build/asan
#     make CC=clang WERROR=1 VARIANT=clang all       any other name: normal flags, its own folder
#     make test TEST="pool idx"     only these topics
#     make BLAS=plain               without OpenBLAS
# CPPFLAGS, CFLAGS, LDFLAGS and LDLIBS are yours: they come after our own flags.

VERSION := 0.1.0
VARIANT ?= normal
BUILD := build/$(VARIANT)
TOOLS := tests/tools
CLANG_FORMAT := $(firstword $(shell command -v clang-format-14) clang-format)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
FORCE:
.PHONY: FORCE all run test asan tsan valgrind bench fuzz check-readme check-deps format format-check \
        setup clean install uninstall help test-programs shared test-cuda bench-cuda exercises \
        lab-parts lab-profile instructor course-secret exercise-tables grade grade-all answers similar \
        report handout gradescope \
        grader-selftest check-exercise

# ---- setup and clean come first ----------------------------------------------------------------
# What else is asked for in the same line waits for them and is built by a make of its own, so that
# it sees what setup has just installed (`make setup run`).
FIRST_GOALS := $(filter setup clean,$(MAKECMDGOALS))
OTHER_GOALS := $(filter-out setup clean,$(MAKECMDGOALS))

setup: ## install what is missing: compiler, OpenBLAS, jansson, ...
	@$(TOOLS)/setup
	@rm -f build/config.mk

clean: ## remove everything that make made
	rm -rf build profile_mlp profile_model lab

help: ## list the targets
	@awk -F ':.*## ' '/^[a-zA-Z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' \
	    $(filter-out %.d,$(MAKEFILE_LIST))

check-deps: ## verify who includes whom, and the top level
	@$(TOOLS)/check_deps

FORMATTED = $(wildcard */*.[ch] */*/*.[ch] */*.cu */*/*.cu */*.cuh */*/*.cuh)
format: ## format every source in place (clang-format 14)
	$(CLANG_FORMAT) -i $(FORMATTED)
format-check: ## verify that every source is formatted (clang-format 14)
	@$(CLANG_FORMAT) --version | grep -q 'version 14\.' || \
	    { echo "format-check: clang-format 14 is needed, because versions disagree"; exit 1; }
	@$(CLANG_FORMAT) --dry-run --Werror $(FORMATTED)

ifneq ($(and $(FIRST_GOALS),$(OTHER_GOALS)),)
.PHONY: $(OTHER_GOALS)
$(if $(filter setup,$(FIRST_GOALS)),$(if $(filter clean,$(FIRST_GOALS)),setup: clean))
$(firstword $(OTHER_GOALS)): $(FIRST_GOALS)
	@$(MAKE) --no-print-directory $(OTHER_GOALS)
$(wordlist 2,$(words $(OTHER_GOALS)),$(OTHER_GOALS)): $(firstword $(OTHER_GOALS))
	@:
else

# ---- what was found ----------------------------------------------------------------------------
NEED_NOTHING := setup clean uninstall help check-deps format format-check check-size reference \
    check-reference check-pages
ifneq ($(filter-out $(NEED_NOTHING),$(or $(MAKECMDGOALS),all)),)
include build/config.mk
endif
build/config.mk: $(TOOLS)/configure
	@mkdir -p build
	@$< >$@.new && mv $@.new $@ || { rm -f $@.new; exit 1; }

ifeq ($(origin CC),default)
CC := $(FOUND_CC)
endif
BLAS ?= $(FOUND_BLAS)
BLAS_CHOICES := $(patsubst tensor/blas_%.c,%,$(wildcard tensor/blas_*.c))
$(if $(FOUND_CC),$(if $(filter $(BLAS_CHOICES),$(BLAS)),,\
    $(error BLAS=$(BLAS) is not known: choose one of $(BLAS_CHOICES))))

# ---- flags -------------------------------------------------------------------------------------
# No -march=native (the products must run elsewhere and under valgrind) and no -ffast-math (NaN and
# the order of sums are part of the contract).
OPTIMIZE := -O3 -g
OPTIMIZE_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover -fno-omit-frame-pointer
OPTIMIZE_tsan := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
OPTIMIZE_pic := -O3 -g -fPIC
OPTIMIZE_VARIANT := $(or $(OPTIMIZE_$(VARIANT)),$(OPTIMIZE))

FLOATING_POINT := -fno-math-errno -fno-trapping-math -ffp-contract=off
WARNINGS := -Wall -Wextra -Wshadow -Wdouble-promotion -Wfloat-conversion $(if $(WERROR),-Werror)
BLAS_CFLAGS := $(if $(filter openblas,$(BLAS)),$(OPENBLAS_CFLAGS))
BLAS_LIBS := $(if $(filter openblas,$(BLAS)),$(OPENBLAS_LIBS))
COMPILE = $(CC) -std=c11 -D_GNU_SOURCE -I. $(SYSTEM_CFLAGS) \
    $(BLAS_CFLAGS) $(OPTIMIZE_VARIANT) $(FLOATING_POINT) -pthread $(WARNINGS) $(CPPFLAGS) $(CFLAGS)
LINK = $(CC) $(OPTIMIZE_VARIANT) -pthread $(CFLAGS) $(LDFLAGS)
LIBS = $(BLAS_LIBS) $(SYSTEM_LIBS) -lm -ldl $(LDLIBS)

# ---- sources -----------------------------------------------------------------------------------
LIBRARY_FOLDERS := tensor tensor/ops autograd layers layers/train layers/models profiler \
    profiler/machine profiler/report profiler/files
MAINS := $(wildcard profiler/profile_mlp.c profiler/profile_model.c)
BLAS_SOURCES := $(wildcard tensor/blas_*.c)
# What programs are made of and the library is not: it may print.
PROGRAM_SOURCES := $(wildcard profiler/program/*.c)
LIBRARY_SOURCES := $(filter-out $(MAINS) $(PROGRAM_SOURCES) $(BLAS_SOURCES),\
    $(wildcard $(LIBRARY_FOLDERS:%=%/*.c))) \
    $(filter %/blas_$(BLAS).c,$(BLAS_SOURCES))
# What the exercises stand on, their cases, the grader, and ./lab; what students write and what calls
# it (lab-parts), and programs are apart.
EXERCISE_SOURCES := $(filter-out $(addprefix exercises/support/,worker.c remote_%.c ledger.c) \
    exercises/lab/lab.c exercises/lab/profile_%.c %_call.c,\
    $(wildcard $(addprefix exercises/,support/*.c scene/*.c course/*.c grader/*.c lab/*.c)))
TEST_SOURCES := $(wildcard tests/test_*.c)
# A benchmark compares with the same work by hand, over OpenBLAS: without it there is none.
BENCH_SOURCES := $(if $(filter openblas,$(BLAS)),$(wildcard tests/bench_*.c))
BENCH_HELPER_SOURCES := $(if $(BENCH_SOURCES),$(wildcard tests/bench/*.c))
FUZZ_SOURCES := $(wildcard tests/fuzz_*.c)
HELPER_SOURCES := $(filter-out tests/test_%.c tests/bench_%.c $(FUZZ_SOURCES),\
    $(wildcard tests/*.c))
SOURCES := $(LIBRARY_SOURCES) $(MAINS) $(PROGRAM_SOURCES) $(TEST_SOURCES) $(BENCH_SOURCES) $(FUZZ_SOURCES) \
    $(HELPER_SOURCES) $(BENCH_HELPER_SOURCES) $(EXERCISE_SOURCES) exercises/lab/lab.c \
    $(wildcard exercises/lab/profile_*.c)

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
programs = $(patsubst %.c,$(BUILD)/%,$(1))

LIBRARY := $(BUILD)/libridgepoint.a
HELPERS := $(BUILD)/tests/libhelpers.a
EXERCISES := $(BUILD)/exercises/libexercises.a
SKELETONS := $(patsubst exercises/%,exercises/.lab/skeletons/%,$(wildcard exercises/ex*.c \
    exercises/predict.txt exercises/answers.txt exercises/by_hand.txt))
# The programs of the normal build lie in the root, those of another variant in its folder.
PROGRAM_FOLDER := $(if $(filter normal,$(VARIANT)),,$(BUILD)/)
PROGRAMS := $(patsubst profiler/%.c,$(PROGRAM_FOLDER)%,$(MAINS))
LAB_PROGRAM := $(PROGRAM_FOLDER)lab
LAB := build/lab

# The cuda device, and the same source over the tests' emulator: see further down.
NVCC ?= $(FOUND_NVCC)
CUDA_PLUGIN := $(if $(NVCC),build/libridgepoint_cuda.so)
EMULATED_PLUGIN := $(if $(and $(CUDA_HEADERS),$(FOUND_CXX),$(filter openblas,$(BLAS))),\
    $(BUILD)/libridgepoint_cuda_emulated.so)

all: $(LIBRARY) $(PROGRAMS) $(CUDA_PLUGIN) ## build the library, the programs and the cuda device

# Files that hold the version with the command line, and the list of sources, rewritten only when
# these change: what was built otherwise is then rebuilt.
$(BUILD)/command: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION) $(COMPILE)' | cmp -s - $@ || echo '$(VERSION) $(COMPILE)' >$@
$(BUILD)/sources: FORCE
	@mkdir -p $(@D)
	@echo '$(SOURCES) $(EMULATED_OBJECTS)' | cmp -s - $@ || \
	    echo '$(SOURCES) $(EMULATED_OBJECTS)' >$@

$(BUILD)/%.o: %.c $(BUILD)/command
	@mkdir -p $(@D)
	@echo "  compile $<"
	@$(COMPILE) $(DEFINES) -MMD -MP -c -o $@ $<

# A report says which version it is and how its program was built, in C strings.
BUILD_FLAGS = $(strip $(OPTIMIZE_VARIANT) $(FLOATING_POINT) $(CPPFLAGS) $(CFLAGS))
$(BUILD)/profiler/report/environment.o: DEFINES = '-DRIDGEPOINT_VERSION="$(VERSION)"' \
    '-DBUILD_FLAGS="$(subst ",\",$(subst \,\\,$(BUILD_FLAGS)))"'

# What only tests use is compiled with Check's flags as well; benchmarks do without Check.
$(BUILD)/tests/%.o: tests/%.c $(BUILD)/command
	@mkdir -p $(@D)
	@$(if $(CHECK_LIBS)$(filter $(BUILD)/tests/bench%,$@),:,echo "Check, which the tests need, is missing: make setup"; exit 1)
	@echo "  compile $<"
	@$(COMPILE) $(CHECK_CFLAGS) -MMD -MP -c -o $@ $<

$(LIBRARY): $(call objects,$(LIBRARY_SOURCES)) $(BUILD)/sources
$(HELPERS): $(call objects,$(HELPER_SOURCES)) $(BUILD)/sources
$(EXERCISES): $(call objects,$(EXERCISE_SOURCES)) $(BUILD)/exercises/pages.o $(BUILD)/sources
$(LIBRARY) $(HELPERS) $(EXERCISES):
	@rm -f $@
	@$(AR) rcs $@ $(filter %.o,$^)

$(PROGRAMS): $(PROGRAM_FOLDER)%: $(BUILD)/profiler/%.o $(call objects,$(PROGRAM_SOURCES)) $(LIBRARY)
	@echo "  link    $@"
	@$(LINK) -o $@ $^ $(LIBS)

TEST_PROGRAMS := $(call programs,$(TEST_SOURCES))
FUZZ_PROGRAMS := $(call programs,$(FUZZ_SOURCES))
$(TEST_PROGRAMS) $(FUZZ_PROGRAMS): %: %.o $(HELPERS) $(EXERCISES) $(LIBRARY)
	@echo "  link    $@"
	@$(LINK) -o $@ $^ $(LIBS) $(CHECK_LIBS)

# The ledger is a worker's, and no part of the grader.
$(BUILD)/tests/test_exercise_support: $(BUILD)/exercises/support/ledger.o
# Where hostile code is run, it is run alone.
ALONE := $(BUILD)/exercises/selftest/alone.o
$(patsubst %,$(BUILD)/tests/test_%,confine confine_runs room build build_secrets grade): $(ALONE)
# Mutants are the self-test's.
$(patsubst %,$(BUILD)/tests/test_%,lab_check exercises_investigate): \
    $(BUILD)/exercises/selftest/sections.o

BENCH_PROGRAMS := $(call programs,$(BENCH_SOURCES))
$(BENCH_PROGRAMS): %: %.o $(call objects,$(BENCH_HELPER_SOURCES)) $(LIBRARY) $(BUILD)/sources
	@echo "  link    $@"
	@$(LINK) -o $@ $(filter %.o %.a,$^) $(LIBS)

-include $(patsubst %.o,%.d,$(call objects,$(SOURCES)))

# ---- the exercises -----------------------------------------------------------------------------
# ./lab, what it runs students' code in (build/lab), and the skeletons as they were handed out.
$(LAB_PROGRAM): $(BUILD)/exercises/lab/lab.o $(EXERCISES) $(LIBRARY) | lab-parts $(SKELETONS)
	@echo "  link    $@"
	@$(LINK) -o $@ $(filter %.o %.a,$^) $(LIBS)

# Hints and pages as C; the folder itself is newer when a file came or went.
$(BUILD)/exercises/pages.c: exercises/pages/pages.awk $(sort $(wildcard exercises/pages/ex*.md)) \
    exercises/pages
	@mkdir -p $(@D)
	@awk -f $< $(filter %.md,$^) >$@
$(BUILD)/exercises/pages.o: $(BUILD)/exercises/pages.c exercises/lab/pages.h $(BUILD)/command
	@echo "  compile $<"
	@$(COMPILE) -c -o $@ $<

lab: $(filter-out lab,$(LAB_PROGRAM)) ## build ./lab, the program of the exercises
$(filter $(BUILD)/tests/test_lab% $(BUILD)/tests/test_keys \
    $(BUILD)/tests/test_sealed,$(TEST_PROGRAMS)): | $(LAB_PROGRAM)
exercises: $(LAB_PROGRAM) $(PROGRAMS) ## check every exercise; NN=02 only that one
	@./$< check $(NN)
check-NN: ## one exercise, as in make check-02; watch-02: whenever it is saved
	@echo "check-NN: name an exercise, as in make check-02"; exit 2
check-%: $(LAB_PROGRAM)
	@./$< check $*
watch-%: $(LAB_PROGRAM)
	@./$< watch $*

# What ./lab profile runs: real times, so nothing stands between. A student's file that does not
# compile is left out, as are 07, which wants the grader's device, and 10; of the others only the
# functions that are asked for can be seen.
STUDENT_FILES ?= exercises
PROFILE_OBJECTS := $(call objects,$(wildcard exercises/lab/profile_*.c))
PROFILE_FUNCTIONS := count_parameters count_flops count_bytes roofline clock_elapsed \
    measure_latency training_memory profile_forward_pass
lab-profile: $(PROFILE_OBJECTS) $(EXERCISES) $(LIBRARY)
	@mkdir -p $(LAB)/yours && rm -f $(LAB)/yours/*.o
	@for file in '$(STUDENT_FILES)'/ex0[1-689]_*.c; do \
	    object=$(LAB)/yours/$$(basename "$$file" .c).o; \
	    $(LAB_COMPILE) -w -c -o "$$object" "$$file" 2>/dev/null && \
	        objcopy $(PROFILE_FUNCTIONS:%=-G %) "$$object" || rm -f "$$object"; \
	done
	@$(LINK) -o $(LAB)/profile $(PROFILE_OBJECTS) $$(find $(LAB)/yours -name '*.o') \
	    $(EXERCISES) $(LIBRARY) $(LIBS)

# For ./lab reset and submit. Taken once, of what git has where there is git, else of the file
# before anybody has touched it; again only when the contract changes. Not in build/, so that make
# clean does not lose what nobody could bring back.
keep_skeleton = mkdir -p $(@D) && { git show HEAD:./exercises/$(@F) >$@.new 2>/dev/null || \
    cp exercises/$(@F) $@.new; } && mv $@.new $@
exercises/.lab/skeletons/%.c: exercises/%.h
	@$(keep_skeleton)
exercises/.lab/skeletons/%.txt:
	@$(keep_skeleton)

# ---- the cuda device ---------------------------------------------------------------------------
# A plug-in, one for all variants. Of NVIDIA's it links cuBLAS only: the runtime is inside, and the
# driver's libcuda is never linked, because what links it dies at start where there is no driver.
# No contraction of a * b + c: an element gets the same bits here as on the CPU.
CUDA_ARCHITECTURES := -gencode arch=compute_80,code=sm_80 \
    -gencode arch=compute_90,code=[sm_90,compute_90]
CUDA_SOURCES := $(filter-out $(if $(wildcard $(CUDA_HEADERS)/nvtx3/nvToolsExt.h),,cuda/ranges.c),\
    $(wildcard cuda/*.c cuda/*.cu))
CUDA_OBJECTS := $(CUDA_SOURCES:%=build/nvcc/%.o)
CUDA_LIBRARIES := $(firstword $(wildcard $(CUDA_HEADERS:%/include=%/lib64)))
CUDA_INCLUDE := $(if $(filter-out /usr/include,$(CUDA_HEADERS)),-isystem $(CUDA_HEADERS))
CUDA_COMPILE_c = $(FOUND_CC) -std=c11 -D_GNU_SOURCE -I. $(CUDA_INCLUDE) -O3 -g -fPIC \
    -fvisibility=hidden -pthread $(WARNINGS)
CUDA_COMPILE_cu = $(NVCC) -std=c++17 -I. -include cuda/launch_nvcc.h -O3 -lineinfo -fmad=false \
    -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra,-Wno-missing-field-initializers \
    $(CUDA_ARCHITECTURES)

build/nvcc/command: FORCE
	@mkdir -p $(@D)
	@echo '$(CUDA_COMPILE_c) $(CUDA_COMPILE_cu)' | cmp -s - $@ || \
	    echo '$(CUDA_COMPILE_c) $(CUDA_COMPILE_cu)' >$@
build/nvcc/sources: FORCE
	@mkdir -p $(@D)
	@echo '$(CUDA_SOURCES)' | cmp -s - $@ || echo '$(CUDA_SOURCES)' >$@
$(CUDA_OBJECTS): build/nvcc/%.o: % build/nvcc/command
	@mkdir -p $(@D)
	@echo "  compile $<"
	@$(CUDA_COMPILE_$(patsubst .%,%,$(suffix $<))) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
$(CUDA_PLUGIN): $(CUDA_OBJECTS) build/nvcc/sources
	@echo "  link    $@"
	@$(NVCC) -shared -cudart static -o $@ $(filter %.o,$^) -lcublas -Xlinker -z,defs \
	    -Xlinker --exclude-libs=ALL $(CUDA_LIBRARIES:%=-Xlinker -rpath=%)

# The emulated plug-in: the same files, compiled for the CPU with this variant's flags, over a
# runtime of the tests' own.
EMULATOR_TEST_SOURCES := $(if $(EMULATED_PLUGIN),$(wildcard tests/emulator/test_*.cpp))
EMULATOR_SOURCES := $(filter-out tests/emulator/test_%.cpp,$(wildcard tests/emulator/*.cpp))
PLANTED_SOURCES := $(wildcard tests/emulator/*.cu)
emulated = $(patsubst %,$(BUILD)/emulated/%.o,$(1))
EMULATED_OBJECTS := $(call emulated,$(CUDA_SOURCES) $(EMULATOR_SOURCES) $(EMULATOR_TEST_SOURCES) \
    $(PLANTED_SOURCES))
EMULATED_FLAGS = -D_GNU_SOURCE -I. $(CUDA_INCLUDE) $(BLAS_CFLAGS) $(OPTIMIZE_VARIANT) \
    $(FLOATING_POINT) -fPIC -pthread -Wall -Wextra $(if $(WERROR),-Werror) $(CPPFLAGS)
EMULATED_COMPILE_c = $(CC) -std=c11 $(EMULATED_FLAGS) $(CFLAGS)
EMULATED_COMPILE_cpp = $(FOUND_CXX) -std=c++17 -fdata-sections -Wno-missing-field-initializers \
    $(EMULATED_FLAGS) $(CXXFLAGS)
EMULATED_COMPILE_cu = $(EMULATED_COMPILE_cpp) -x c++ -include tests/emulator/launch_emulator.h
EMULATED_LINK = $(FOUND_CXX) -Wl,-T,tests/emulator/shared.ld $(OPTIMIZE_VARIANT) -pthread $(LDFLAGS)

$(EMULATED_OBJECTS): $(BUILD)/emulated/%.o: % $(BUILD)/command
	@mkdir -p $(@D)
	@echo "  compile $< for the emulator"
	@$(EMULATED_COMPILE_$(patsubst .%,%,$(suffix $<))) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
$(EMULATED_PLUGIN): $(call emulated,$(CUDA_SOURCES) $(EMULATOR_SOURCES)) $(BUILD)/sources \
    tests/emulator/shared.ld
	@echo "  link    $@"
	@$(EMULATED_LINK) -shared -Wl,-Bsymbolic -o $@ $(filter %.o,$^) $(BLAS_LIBS) -lm

EMULATOR_TEST_PROGRAMS := $(EMULATOR_TEST_SOURCES:tests/emulator/%.cpp=$(BUILD)/tests/%)
$(EMULATOR_TEST_PROGRAMS): $(BUILD)/tests/%: $(BUILD)/emulated/tests/emulator/%.cpp.o \
    $(call emulated,$(EMULATOR_SOURCES) $(PLANTED_SOURCES)) $(HELPERS) $(LIBRARY) \
    tests/emulator/shared.ld
	@echo "  link    $@"
	@$(EMULATED_LINK) -o $@ $(filter %.o %.a,$^) $(LIBS) $(CHECK_LIBS)

-include $(wildcard $(CUDA_OBJECTS:.o=.d) $(EMULATED_OBJECTS:.o=.d))

# What bench_cuda compares with: a library of its own, over NVIDIA's or over the tests' runtime.
CUDA_RAW := $(if $(CUDA_PLUGIN),build/libcuda_raw.so)
EMULATED_RAW := $(if $(EMULATED_PLUGIN),$(BUILD)/libcuda_raw_emulated.so)
build/libcuda_raw.so: tests/plugins/cuda_raw.c tests/bench/cuda_raw.h build/nvcc/command
	@echo "  link    $@"
	@$(CUDA_COMPILE_c) -c -o build/nvcc/cuda_raw.o $<
	@$(NVCC) -shared -cudart static -o $@ build/nvcc/cuda_raw.o -lcublas \
	    -Xlinker --exclude-libs=ALL $(CUDA_LIBRARIES:%=-Xlinker -rpath=%)
$(BUILD)/libcuda_raw_emulated.so: tests/plugins/cuda_raw.c tests/bench/cuda_raw.h \
    $(call emulated,$(EMULATOR_SOURCES)) tests/emulator/shared.ld
	@echo "  link    $@"
	@$(EMULATED_COMPILE_c) -c -o $(BUILD)/emulated/cuda_raw.o $<
	@$(EMULATED_LINK) -shared -Wl,-Bsymbolic -o $@ $(BUILD)/emulated/cuda_raw.o $(filter %.o,$^) \
	    $(BLAS_LIBS) -lm

# Tests open these at run time.
SAMPLE_PLUGIN := $(BUILD)/tests/plugins/libsample.so
$(SAMPLE_PLUGIN): tests/plugins/sample.c $(BUILD)/command
	@mkdir -p $(@D)
	@$(COMPILE) -fPIC -shared -MMD -MP -o $@ $<
RANGES_TOOL := $(if $(wildcard $(CUDA_HEADERS)/nvtx3/nvToolsExt.h),$(BUILD)/tests/plugins/libranges.so)
$(RANGES_TOOL): tests/plugins/ranges.c $(BUILD)/command
	@mkdir -p $(@D)
	@$(COMPILE) $(CUDA_INCLUDE) -fPIC -shared -MMD -MP -o $@ $<
-include $(SAMPLE_PLUGIN:.so=.d) $(RANGES_TOOL:.so=.d)
$(filter $(BUILD)/tests/test_cuda%,$(TEST_PROGRAMS)): | $(EMULATED_PLUGIN) $(RANGES_TOOL)
$(filter $(BUILD)/tests/test_cuda_tools,$(TEST_PROGRAMS)): | $(BUILD)/tests/test_cuda \
    $(filter %/bench_cuda,$(BENCH_PROGRAMS)) $(EMULATED_RAW)
$(filter $(BUILD)/tests/test_plugin,$(TEST_PROGRAMS)): | $(SAMPLE_PLUGIN)

# ---- what the grader builds student code with --------------------------------------------------
# One relocatable object per exercise: worker.c, the call file, exercises/support and an engine that
# does not know costs: descriptors without them, no layers/cost.c, nothing of profiler/, and autograd
# only where a training step is asked for. Over plain loops, because a worker starts for every case,
# and OpenBLAS takes longer to start than that. Of all its names only those are seen that a student
# may call or that the link needs. One for all variants.
LAB_COMPILE = $(CC) -std=c11 -D_GNU_SOURCE -I. -O2 $(FLOATING_POINT) -pthread $(WARNINGS)
LAB_PARTS_COMPILE = $(LAB_COMPILE) -DENGINE_WITHOUT_COSTS -ffunction-sections -fdata-sections \
    -fstack-protector-strong
lab_objects = $(patsubst %.c,$(LAB)/object/%.o,$(1))
LAB_ENGINE := $(call lab_objects,$(filter-out layers/cost.c $(BLAS_SOURCES),\
    $(wildcard tensor/*.c tensor/ops/*.c layers/*.c)) tensor/blas_plain.c \
    autograd/leaf.c exercises/grader/filter.c \
    $(filter-out %/remote_training.c,$(wildcard exercises/support/*.c)))
LAB_TRAINING := $(call lab_objects,$(filter-out autograd/leaf.c,$(wildcard autograd/*.c)) layers/train/loss.c \
    layers/train/optimizer.c exercises/support/remote_training.c)
LAB_CALLS := $(wildcard exercises/course/ex*_call.c)
LAB_WORKERS := $(LAB_CALLS:exercises/course/%_call.c=$(LAB)/worker/%.o)
LAB_SEEN := main __stack_chk_fail *_call lab_* mock_* reference_* tensor_* scope_* error_* status_* \
    dtype_* shape_* no_grad_* layer_forward layer_forward_many layer_attribute layer_output_shape \
    optimizer_name optimizer_flag
# All that student code may include of ours.
LAB_HEADERS := $(patsubst %,$(LAB)/include/%,\
    $(filter-out layers/cost.h exercises/support/remote.h exercises/support/worker.h,\
    $(wildcard exercises/ex*.h exercises/support/*.h tensor/*.h autograd/*.h layers/*.h layers/train/*.h)))

lab-parts: $(LAB)/tools $(LAB_WORKERS) $(LAB_HEADERS)

$(LAB)/command: FORCE
	@mkdir -p $(@D)
	@echo '$(LAB_PARTS_COMPILE) $(LAB_ENGINE) $(LAB_TRAINING) $(LAB_SEEN)' | cmp -s - $@ || \
	    echo '$(LAB_PARTS_COMPILE) $(LAB_ENGINE) $(LAB_TRAINING) $(LAB_SEEN)' >$@
$(LAB)/object/%.o: %.c $(LAB)/command
	@mkdir -p $(@D)
	@echo "  compile $< for workers"
	@$(LAB_PARTS_COMPILE) -MMD -MP -c -o $@ $<
# All of it, because only the linker of a student's file knows what that calls.
link_worker = mkdir -p $(@D) && ld -r -o $@.all $(filter %.o,$^) && \
    objcopy -w $(LAB_SEEN:%='--keep-global-symbol=%') $@.all $@ && rm -f $@.all
$(filter $(LAB)/worker/ex10%,$(LAB_WORKERS)): $(LAB_TRAINING)
$(LAB_WORKERS): $(LAB)/worker/%.o: $(LAB)/object/exercises/course/%_call.o $(LAB_ENGINE)
	@echo "  link    $@"
	@$(link_worker)
$(LAB_HEADERS): $(LAB)/include/%: %
	@mkdir -p $(@D)
	@cp $< $@

$(LAB)/tools: $(LAB)/command
	@printf '%s\n' '$(shell command -v $(firstword $(CC)))' '$(shell command -v objcopy)' >$@

# The tests have an exercise of their own, and therefore parts of their own.
SAMPLE_PARTS := $(LAB)/tests
$(SAMPLE_PARTS)/worker/ex90_sample.o: $(LAB)/object/tests/exercise/sample_call.o $(LAB_ENGINE)
	@$(link_worker)
$(SAMPLE_PARTS)/tools: $(SAMPLE_PARTS)/worker/ex90_sample.o tests/exercise/ex90_sample.h \
    $(LAB)/tools $(LAB_WORKERS) $(LAB_HEADERS)
	@cp -r $(LAB)/include $(LAB)/worker $(@D) && \
	    cp tests/exercise/ex90_sample.h $(@D)/include/exercises && cp $(LAB)/tools $@
$(patsubst %,$(BUILD)/tests/test_%,grade grade_course build build_secrets): | $(SAMPLE_PARTS)/tools
-include $(shell [ -d $(LAB)/object ] && find $(LAB)/object -name '*.d')

# ---- running -----------------------------------------------------------------------------------
run: $(PROGRAM_FOLDER)profile_mlp ## profile an MLP of three linear layers, and train it
	@./$<

# What the sanitizers and valgrind find is only true without the caches, and they are slow. Each
# variant may choose its topics; TEST names others. (Where a library opened at run time has variables
# of each thread, the sanitizer guesses their place from their address, and may die at exit.)
TEST_ENVIRONMENT_asan := RIDGEPOINT_ALLOC=raw CK_TIMEOUT_MULTIPLIER=5 TEST_SECONDS=600 \
    ASAN_OPTIONS=detect_stack_use_after_return=1:intercept_tls_get_addr=0 \
    UBSAN_OPTIONS=print_stacktrace=1
# OpenBLAS is not instrumented and would start threads of its own; TSan does not follow fork.
TEST_ENVIRONMENT_tsan := RIDGEPOINT_ALLOC=raw CK_FORK=no TEST_SECONDS=600 OPENBLAS_NUM_THREADS=1
TOPICS_tsan := pool context loader prefetch
TEST_ENVIRONMENT_valgrind := RIDGEPOINT_ALLOC=raw CK_TIMEOUT_MULTIPLIER=20 TEST_SECONDS=900 \
    OPENBLAS_NUM_THREADS=1 TEST_WRAPPER='valgrind -q --leak-check=full \
    --errors-for-leak-kinds=definite --error-exitcode=99'
TOPICS_valgrind := scope tape faults

# Topics without a program are left out of a list above; in TEST they are a mistake.
ALL_TOPICS := $(TEST_SOURCES:tests/test_%.c=%) $(EMULATOR_TEST_SOURCES:tests/emulator/test_%.cpp=%)
UNKNOWN_TOPICS := $(and $(filter test asan tsan valgrind,$(MAKECMDGOALS)),$(strip \
    $(filter-out $(ALL_TOPICS),$(TEST))))
$(if $(UNKNOWN_TOPICS),$(error TEST=$(UNKNOWN_TOPICS) is no topic; the topics are: $(ALL_TOPICS)))
topic_programs = $(patsubst %,$(BUILD)/tests/test_%,$(or $(TEST),$(if $(TOPICS_$(1)),\
    $(filter $(TOPICS_$(1)),$(ALL_TOPICS)),$(ALL_TOPICS))))
run_tests = $(TEST_ENVIRONMENT_$(1)) $(TOOLS)/run_tests $(call topic_programs,$(1))

test-programs: $(TEST_PROGRAMS) $(EMULATOR_TEST_PROGRAMS) $(FUZZ_PROGRAMS) $(BENCH_PROGRAMS)

test: $(PROGRAMS) $(call topic_programs,$(VARIANT)) ## run the tests; TEST="pool idx": only these topics
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

# What only a GPU can answer: tests/tools/on_gpu says SKIP and why where there is none.
on_gpu = $(TOOLS)/on_gpu $(1) '$(CUDA_PLUGIN:%=$(CURDIR)/%)' $(2) || [ $$? -eq 77 ]
GPU_TESTS := $(patsubst %,$(BUILD)/tests/test_%,cuda cuda_product cuda_support)
test-cuda: $(CUDA_PLUGIN) $(GPU_TESTS) ## the tests of the cuda device on a GPU, compute-sanitizer, and bench-cuda
	@$(call on_gpu,test,$(GPU_TESTS))
	@$(MAKE) --no-print-directory bench-cuda
bench-cuda: $(CUDA_PLUGIN) $(CUDA_RAW) $(filter %/bench_cuda,$(BENCH_PROGRAMS)) ## how fast the cuda device is, on a GPU
	@$(call on_gpu,bench,$(filter %/bench_cuda,$^) $(CUDA_RAW))

# A fuzz program tries random inputs for about as many seconds as its argument says.
FUZZ_SECONDS ?= 60
fuzz: $(FUZZ_PROGRAMS) ## feed random input to the readers; FUZZ_SECONDS=60 each
	@for program in $^; do \
	    env $(TEST_ENVIRONMENT_$(VARIANT)) ./$$program $(FUZZ_SECONDS) || exit 1; done

# ---- the class ---------------------------------------------------------------------------------
# What instructors run, and what grades the grader; neither is handed out.
INSTRUCTOR := $(BUILD)/instructor
SELFTEST := $(BUILD)/exercises/selftest/selftest
INSTRUCTOR_SOURCES := $(wildcard exercises/instructor/*.c)
SELFTEST_SOURCES := $(wildcard exercises/selftest/*.c)
$(INSTRUCTOR): $(call objects,$(INSTRUCTOR_SOURCES)) $(EXERCISES) $(LIBRARY)
$(SELFTEST): $(call objects,$(SELFTEST_SOURCES)) $(EXERCISES) $(LIBRARY)
$(INSTRUCTOR) $(SELFTEST):
	@echo "  link    $@"
	@$(LINK) -o $@ $^ $(LIBS)
# The test of its parts is linked with them.
$(BUILD)/tests/test_grading_parts: $(patsubst %,$(BUILD)/exercises/%.o,instructor/archive \
    instructor/items instructor/tables instructor/fingerprint instructor/similar selftest/sections)
$(BUILD)/tests/test_grading_parts: LIBS := $(EXERCISES) $(LIBRARY) $(LIBS)
$(filter $(BUILD)/tests/test_grading $(BUILD)/tests/test_instructor,$(TEST_PROGRAMS)): | $(INSTRUCTOR)
-include $(patsubst %.o,%.d,$(call objects,$(INSTRUCTOR_SOURCES) $(SELFTEST_SOURCES)))

SECRET := $(or $(RIDGEPOINT_COURSE_SECRET_FILE),$(wildcard exercises/.secret))
instructor: $(INSTRUCTOR)
course-secret: $(INSTRUCTOR) ## make the course's secret, on which hidden numbers depend
	@$(INSTRUCTOR) secret $(or $(RIDGEPOINT_COURSE_SECRET_FILE),exercises/.secret)
grade: $(INSTRUCTOR) $(LAB_PROGRAM) ## grade SUBMISSION=PATH; OUTPUT=, STUDENT=
	@$(INSTRUCTOR) grade '$(SUBMISSION)' $(OUTPUT:%=--output '%') $(STUDENT:%=--student '%') \
	    $(SECRET:%=--secret '%')
grade-all: $(INSTRUCTOR) $(LAB_PROGRAM) ## grade a class, SUBMISSIONS=DIR; OUTPUT=, ROSTER=, WRITTEN=, AGAIN=1
	@$(INSTRUCTOR) grade-all '$(SUBMISSIONS)' $(OUTPUT:%=--output '%') $(ROSTER:%=--roster '%') \
	    $(if $(WRITTEN),--written '$(WRITTEN)') $(if $(ASSIGNMENT),--assignment '$(ASSIGNMENT)') \
	    $(SECRET:%=--secret '%') $(if $(AGAIN),--again)
answers: $(INSTRUCTOR) ## keys to hand out, and what each has to answer by hand; ROSTER=FILE or names, OUTPUT=
	@$(INSTRUCTOR) answers '$(ROSTER)' $(OUTPUT:%=--output '%') $(SECRET:%=--secret '%')
similar: $(INSTRUCTOR) ## pairs that share more than the class does, SUBMISSIONS=DIR
	@$(INSTRUCTOR) similar '$(SUBMISSIONS)'
report: $(INSTRUCTOR) ## how cases did and which misconceptions are about, GRADES=DIR
	@$(INSTRUCTOR) report '$(GRADES)'
exercise-tables: $(INSTRUCTOR) ## write minutes and points into exercises/README.md and INSTRUCTOR.md
	@$(INSTRUCTOR) tables exercises/README.md
	@$(INSTRUCTOR) tables exercises/INSTRUCTOR.md
handout: ## build/handout.tar.gz: what students get, verified
	@exercises/instructor/handout
gradescope: ## build/autograder.zip
	@exercises/instructor/gradescope build/autograder.zip $(SECRET)
grader-selftest: $(SELFTEST) lab-parts ## grade the grader; QUICK=1, ONLY=02
	@$(SELFTEST) $(if $(QUICK),--quick) $(ONLY:%=--only %)

check-exercise: $(SELFTEST) lab-parts ## add the exercise of exercises/INSTRUCTOR.md to a copy, and grade it
	@$(TOOLS)/check_exercise

check-readme: $(LIBRARY) ## run the code that the READMEs show
	@CC='$(CC)' $(TOOLS)/check_readme $(LIBRARY) $(LIBS) -lpthread

# ---- installing --------------------------------------------------------------------------------
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR ?= $(PREFIX)/bin
# No public header includes one of these.
INTERNAL_HEADERS := tensor/handle.h tensor/clock.h tensor/ops/%.h autograd/tape.h \
    profiler/%_parts.h profiler/report/%_rows.h profiler/report/%_rules.h \
    profiler/report/memory_plot.h profiler/report/report_table.h profiler/machine/machine_levels.h \
    profiler/machine/machine_measure.h profiler/machine/machine_device.h \
    profiler/machine/machine_timing.h layers/models/images.h
PUBLIC_HEADERS = $(filter-out $(INTERNAL_HEADERS),$(wildcard $(LIBRARY_FOLDERS:%=%/*.h)))
SONAME := libridgepoint.so.$(firstword $(subst ., ,$(VERSION)))

shared: $(BUILD)/libridgepoint.so.$(VERSION)
$(BUILD)/libridgepoint.so.$(VERSION): $(call objects,$(LIBRARY_SOURCES)) $(BUILD)/sources
	@echo "  link    $@"
	@$(LINK) -shared -Wl,-soname,$(SONAME) -o $@ $(filter %.o,$^) $(LIBS)

install: all ## install library, headers and programs; PREFIX=, DESTDIR=
	@$(MAKE) --no-print-directory VARIANT=pic shared
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(BINDIR)
	install -m 644 $(LIBRARY) $(DESTDIR)$(LIBDIR)
	install -m 755 build/pic/libridgepoint.so.$(VERSION) $(DESTDIR)$(LIBDIR)
	ln -sf libridgepoint.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libridgepoint.so
	install -m 755 $(PROGRAMS) $(DESTDIR)$(BINDIR)
	$(if $(CUDA_PLUGIN),install -m 755 $(CUDA_PLUGIN) $(DESTDIR)$(LIBDIR))
	@for header in $(PUBLIC_HEADERS); do \
	    install -d $(DESTDIR)$(INCLUDEDIR)/ridgepoint/$$(dirname $$header) && \
	    install -m 644 $$header $(DESTDIR)$(INCLUDEDIR)/ridgepoint/$$header || exit 1; \
	done
	@printf '%s\n' 'Name: ridgepoint' 'Description: A small tensor framework that knows its cost' \
	    'Version: $(VERSION)' 'Cflags: -I$(INCLUDEDIR)/ridgepoint' 'Libs: -L$(LIBDIR) -lridgepoint' \
	    'Libs.private: $(LIBS) -pthread' >$(DESTDIR)$(LIBDIR)/pkgconfig/ridgepoint.pc

uninstall: ## remove what install put there; the same PREFIX=, DESTDIR=
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,$(notdir $(LIBRARY)) libridgepoint.so $(SONAME) \
	    libridgepoint.so.$(VERSION) libridgepoint_cuda.so pkgconfig/ridgepoint.pc)
	rm -f $(addprefix $(DESTDIR)$(BINDIR)/,$(notdir $(PROGRAMS)))
	rm -rf $(DESTDIR)$(INCLUDEDIR)/ridgepoint

# Pages, sizes, quick tests; a handout is without.
-include .ci/rules.mk

endif
