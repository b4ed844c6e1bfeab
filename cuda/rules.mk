# cuda/rules.mk -- the cuda device: a plug-in, one for all variants, where nvcc was found.
NVCC ?= $(FOUND_NVCC)
CUDA_PLUGIN := $(if $(NVCC),build/libridgepoint_cuda.so)
all: $(CUDA_PLUGIN)

# Of NVIDIA's it links cuBLAS only: the runtime is inside, and the
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
	$(call keep,$(CUDA_COMPILE_c) $(CUDA_COMPILE_cu))
build/nvcc/sources: FORCE
	$(call keep,$(CUDA_SOURCES))
$(CUDA_OBJECTS): build/nvcc/%.o: % build/nvcc/command
	$(call compile,$(CUDA_COMPILE_$(patsubst .%,%,$(suffix $<))))
$(CUDA_PLUGIN): $(CUDA_OBJECTS) build/nvcc/sources
	@$(STEP) 'link    $@' $(NVCC) -shared -cudart static -o $@ $(filter %.o,$^) -lcublas -Xlinker -z,defs \
	    -Xlinker --exclude-libs=ALL $(CUDA_LIBRARIES:%=-Xlinker -rpath=%)

-include $(wildcard $(CUDA_OBJECTS:.o=.d))
