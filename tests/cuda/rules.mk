# tests/cuda/rules.mk -- the cuda device's own sources over the tests' emulator, the emulator's own
# tests, what the device is compared with, and what runs on a real GPU.
.PHONY: test-cuda bench-cuda

# The emulated plug-in: the same files, compiled for the CPU with this variant's flags, over a
# runtime of the tests' own.
EMULATED_PLUGIN := $(if $(and $(CUDA_HEADERS),$(FOUND_CXX),$(filter openblas,$(BLAS))),\
    $(BUILD)/libridgepoint_cuda_emulated.so)
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
	$(call compile,$(EMULATED_COMPILE_$(patsubst .%,%,$(suffix $<))), for the emulator)
$(BUILD)/emulated/sources: FORCE
	$(call keep,$(EMULATED_OBJECTS))
$(EMULATED_PLUGIN): $(call emulated,$(CUDA_SOURCES) $(EMULATOR_SOURCES)) $(BUILD)/emulated/sources \
    tests/emulator/shared.ld
	@$(STEP) 'link    $@' $(EMULATED_LINK) -shared -Wl,-Bsymbolic -o $@ $(filter %.o,$^) $(BLAS_LIBS) -lm

EMULATOR_TEST_PROGRAMS := $(EMULATOR_TEST_SOURCES:tests/emulator/%.cpp=$(BUILD)/tests/%)
$(EMULATOR_TEST_PROGRAMS): $(BUILD)/tests/%: $(BUILD)/emulated/tests/emulator/%.cpp.o \
    $(call emulated,$(EMULATOR_SOURCES) $(PLANTED_SOURCES)) $(HELPERS) $(LIBRARY) \
    tests/emulator/shared.ld
	@$(STEP) 'link    $@' $(EMULATED_LINK) -o $@ $(filter %.o %.a,$^) $(LIBS) $(CHECK_LIBS)

-include $(wildcard $(EMULATED_OBJECTS:.o=.d))

# What bench_cuda compares with: a library of its own, over NVIDIA's or over the tests' runtime.
CUDA_RAW := $(if $(CUDA_PLUGIN),build/libcuda_raw.so)
EMULATED_RAW := $(if $(EMULATED_PLUGIN),$(BUILD)/libcuda_raw_emulated.so)
build/libcuda_raw.so: tests/plugins/cuda_raw.c tests/bench/cuda_raw.h build/nvcc/command
	@$(CUDA_COMPILE_c) -c -o build/nvcc/cuda_raw.o $<
	@$(STEP) 'link    $@' $(NVCC) -shared -cudart static -o $@ build/nvcc/cuda_raw.o -lcublas \
	    -Xlinker --exclude-libs=ALL $(CUDA_LIBRARIES:%=-Xlinker -rpath=%)
$(BUILD)/libcuda_raw_emulated.so: tests/plugins/cuda_raw.c tests/bench/cuda_raw.h \
    $(call emulated,$(EMULATOR_SOURCES)) tests/emulator/shared.ld
	@$(EMULATED_COMPILE_c) -c -o $(BUILD)/emulated/cuda_raw.o $<
	@$(STEP) 'link    $@' $(EMULATED_LINK) -shared -Wl,-Bsymbolic -o $@ $(BUILD)/emulated/cuda_raw.o $(filter %.o,$^) \
	    $(BLAS_LIBS) -lm

# A tool that listens to the device's ranges; a test opens it at run time.
RANGES_TOOL := $(if $(wildcard $(CUDA_HEADERS)/nvtx3/nvToolsExt.h),$(BUILD)/tests/plugins/libranges.so)
$(RANGES_TOOL): tests/plugins/ranges.c $(BUILD)/command
	@mkdir -p $(@D)
	@$(COMPILE) $(CUDA_INCLUDE) -fPIC -shared -MMD -MP -o $@ $<
-include $(RANGES_TOOL:.so=.d)
$(filter $(BUILD)/tests/test_cuda%,$(TEST_PROGRAMS)): | $(EMULATED_PLUGIN) $(RANGES_TOOL)
BENCH_CUDA := $(filter %/bench_cuda,$(BENCH_PROGRAMS))
$(call tests_of,cuda_tools): | $(call tests_of,cuda) $(BENCH_CUDA) $(EMULATED_RAW)

# What only a GPU can answer: tests/tools/on_gpu says SKIP and why where there is none.
on_gpu = $(TOOLS)/on_gpu $(1) '$(CUDA_PLUGIN:%=$(CURDIR)/%)' $(2) || [ $$? -eq 77 ]
GPU_TESTS := $(call tests_of,cuda cuda_product cuda_support)
test-cuda: $(CUDA_PLUGIN) $(GPU_TESTS) ## the tests of the cuda device on a GPU, compute-sanitizer, and bench-cuda
	@$(call on_gpu,test,$(GPU_TESTS))
	@$(MAKE) --no-print-directory bench-cuda
bench-cuda: $(CUDA_PLUGIN) $(CUDA_RAW) $(BENCH_CUDA) ## how fast the cuda device is, on a GPU
	@$(call on_gpu,bench,$(BENCH_CUDA) $(CUDA_RAW))
