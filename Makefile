# Makefile -- builds the library and its programs; what a room builds beyond that (the exercises, the
# cuda device, the tests) is in a rules.mk of its own. `make help` lists all that can be done.
# What this machine has is found once by tests/tools/configure and kept in build/config.mk.
#
#     make VARIANT=asan test        another variant (normal, asan, tsan, fuzz), in build/asan
#     make CC=clang WERROR=1 VARIANT=clang all       any other name: normal flags, its own folder
#     make test TEST="pool idx"     only these topics
#     make BLAS=plain               without OpenBLAS
#     make BUILD=DIR run            all of it in DIR, where this folder is not to be written in
# CPPFLAGS, CFLAGS, LDFLAGS and LDLIBS are yours: they come after our own flags.

VERSION_NUMBER = $(shell sed -n 's/^\#define RIDGEPOINT_$(1) //p' tensor/version.h)
VERSION := $(call VERSION_NUMBER,VERSION_MAJOR).$(call VERSION_NUMBER,VERSION_MINOR).$(call \
    VERSION_NUMBER,VERSION_PATCH)
VARIANT ?= normal
ELSEWHERE := $(if $(filter command,$(origin BUILD)),$(BUILD))
override BUILD := build/$(VARIANT)
TOOLS := tests/tools
CLANG_FORMAT := $(firstword $(shell command -v clang-format-14) clang-format)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
FORCE:
.PHONY: FORCE all run check-deps format format-check setup clean install installable \
        install-files uninstall help

# All processors, unless the user or a make above this one has said how many.
ifeq ($(MAKELEVEL)$(filter -j% --jobs% --jobserver%,$(MAKEFLAGS) $(shell echo "$$MAKEFLAGS")),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
endif

# ---- elsewhere ---------------------------------------------------------------------------------
# BUILD=DIR names a folder in which links to all sources are made, and then what is asked for: there
# the programs lie. RIDGEPOINT_ELSEWHERE tells the make there that it has arrived.
ifneq ($(and $(ELSEWHERE),$(if $(RIDGEPOINT_ELSEWHERE),,here)),)
GOALS := $(or $(MAKECMDGOALS),all)
.PHONY: $(GOALS)
$(firstword $(GOALS)):
	@$(TOOLS)/elsewhere '$(subst ','\'',$(ELSEWHERE))'
	@$(MAKE) --no-print-directory -C '$(subst ','\'',$(ELSEWHERE))' RIDGEPOINT_ELSEWHERE=1 $(GOALS)
$(filter-out $(firstword $(GOALS)),$(GOALS)): $(firstword $(GOALS))
	@:
else

# ---- several goals -----------------------------------------------------------------------------
# Each is made when the one before it is done, by a make of its own, which sees what that has
# installed or removed (`make setup run`).
ifneq ($(word 2,$(MAKECMDGOALS)),)
.PHONY: $(MAKECMDGOALS)
$(firstword $(MAKECMDGOALS)):
	@for goal in $(MAKECMDGOALS); do $(MAKE) --no-print-directory "$$goal" || exit; done
$(filter-out $(firstword $(MAKECMDGOALS)),$(MAKECMDGOALS)): $(firstword $(MAKECMDGOALS))
	@:
else

# ---- what needs nothing that was found ---------------------------------------------------------
setup: ## install what is missing: compiler, OpenBLAS, jansson, ...
	@$(TOOLS)/setup
	@rm -f build/config.mk

clean: ## remove everything that make made
	rm -rf build profile_mlp profile_model lab

help: ## list the targets
	@awk -F ':.*## ' '/^[a-zA-Z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' \
	    $(filter Makefile %.mk,$(MAKEFILE_LIST))

check-deps: ## verify who includes whom, and the top level
	@$(TOOLS)/check_deps

FORMATTED = $(filter-out build/%,$(wildcard $(foreach name,*.[ch] *.cu *.cuh,\
    */$(name) */*/$(name) */*/*/$(name))))
format: ## format every source in place (clang-format 14)
	$(CLANG_FORMAT) -i $(FORMATTED)
format-check: ## verify that every source is formatted (clang-format 14)
	@$(CLANG_FORMAT) --version | grep -q 'version 14\.' || \
	    { echo "format-check: clang-format 14 is needed, because versions disagree"; exit 1; }
	@$(CLANG_FORMAT) --dry-run --Werror $(FORMATTED)

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
OPTIMIZE_asan := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover -fno-omit-frame-pointer
OPTIMIZE_tsan := -O1 -g1 -fsanitize=thread -fno-omit-frame-pointer
OPTIMIZE_fuzz := -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow \
    -fno-sanitize-recover=all -fno-omit-frame-pointer
OPTIMIZE_clang := -O0 # for its warnings, which need no more
OPTIMIZE_VARIANT := $(or $(OPTIMIZE_$(VARIANT)),$(OPTIMIZE))

FLOATING_POINT := -fno-math-errno -fno-trapping-math -ffp-contract=off
WARNINGS := -Wall -Wextra -Wshadow -Wdouble-promotion -Wfloat-conversion $(if $(WERROR),-Werror)
BLAS_CFLAGS := $(if $(filter openblas,$(BLAS)),$(OPENBLAS_CFLAGS))
BLAS_LIBS := $(if $(filter openblas,$(BLAS)),$(OPENBLAS_LIBS))
COMPILE = $(CC) -std=c11 -D_GNU_SOURCE -I. $(SYSTEM_CFLAGS) \
    $(BLAS_CFLAGS) $(OPTIMIZE_VARIANT) $(FLOATING_POINT) -pthread $(WARNINGS) $(CPPFLAGS) $(CFLAGS)
LINK = $(CC) $(OPTIMIZE_VARIANT) -pthread $(CFLAGS) $(LDFLAGS)
LIBS = $(BLAS_LIBS) $(SYSTEM_LIBS) $(PROTOBUF_LIBS) -lm -ldl $(LDLIBS)

# ---- sources -----------------------------------------------------------------------------------
LIBRARY_FOLDERS := tensor tensor/ops autograd layers layers/train layers/models layers/files \
    layers/files/onnx profiler \
    $(addprefix profiler/,base machine record measure compare advice report explain files look \
    session)
MAINS := $(wildcard profiler/profile_mlp.c profiler/profile_model.c)
BLAS_SOURCES := $(wildcard tensor/blas_*.c)
# What programs are made of and the library is not: it may print.
PROGRAM_SOURCES := $(wildcard profiler/program/*.c)
# ONNX's container is read by protobuf-c, from what protoc-c makes of onnx.proto; where that is
# missing, absent.c says so. What is known of its operators is a table, which needs none of that.
GENERATED := build/generated
ONNX_SOURCES := $(filter-out %/absent.c %/schema_table.c,$(wildcard layers/files/onnx/*.c))
ONNX_GENERATED := $(if $(FOUND_PROTOC),\
    $(patsubst layers/files/onnx/%.proto,$(GENERATED)/%.pb-c.c,$(wildcard layers/files/onnx/*.proto)))
LIBRARY_SOURCES := $(filter-out $(MAINS) $(PROGRAM_SOURCES) $(BLAS_SOURCES) \
    $(if $(FOUND_PROTOC),%/onnx/absent.c,$(ONNX_SOURCES)),\
    $(wildcard $(LIBRARY_FOLDERS:%=%/*.c))) $(ONNX_GENERATED) \
    $(filter %/blas_$(BLAS).c,$(BLAS_SOURCES))
# All that has objects; the rooms add theirs.
SOURCES := $(LIBRARY_SOURCES) $(MAINS) $(PROGRAM_SOURCES)

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))

LIBRARY := $(BUILD)/libridgepoint.a
# The programs of the normal build lie in the root, those of another variant in its folder.
PROGRAM_FOLDER := $(if $(filter normal,$(VARIANT)),,$(BUILD)/)
PROGRAMS := $(patsubst profiler/%.c,$(PROGRAM_FOLDER)%,$(MAINS))
# The public headers and the libraries as they are installed: see the end.
override HEADERS := build/include/ridgepoint/ridgepoint.h
WHOLE := $(BUILD)/installed/ridgepoint.o
STATIC := $(BUILD)/installed/libridgepoint.a
SHARED := $(BUILD)/libridgepoint.so.$(VERSION)

all: $(LIBRARY) $(PROGRAMS) $(HEADERS) ## build the library, the programs and the cuda device

# ---- how things are built ----------------------------------------------------------------------
# $(call compile,COMMAND,REMARK) and $(call link,LIBRARIES) make the target of what it is made of.
STEP := $(TOOLS)/step
define compile
@mkdir -p $(@D)
@$(STEP) 'compile $<$(2)' $(1) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
endef
define link
@$(STEP) 'link    $@' $(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(1)
endef
# $(call keep,TEXT): the target holds TEXT, and is rewritten only when that changes: what was built
# otherwise is then rebuilt.
define keep
@mkdir -p $(@D)
@echo '$(1)' | cmp -s - $@ || echo '$(1)' >$@
endef

$(BUILD)/command: FORCE
	$(call keep,$(VERSION) $(COMPILE) $(LIBRARY_FLAGS))
$(BUILD)/sources: FORCE
	$(call keep,$(SOURCES))

$(BUILD)/%.o: %.c $(BUILD)/command
	$(call compile,$(COMPILE) $(HIDDEN) $(DEFINES))
# Only what a header marks as API (tensor/api.h) is seen outside the library; one object serves the
# programs, the static library and the shared one.
LIBRARY_FLAGS := -fvisibility=hidden -fPIC -fno-semantic-interposition
$(call objects,$(LIBRARY_SOURCES)): HIDDEN := $(LIBRARY_FLAGS)
# A short loop of vectors that lies across two lines of 64 bytes runs at half its speed on some CPUs
# (Zen 3), and where it lies would change with any line of any file. clang has no such flag.
$(call objects,$(filter tensor/ops/%,$(LIBRARY_SOURCES))): DEFINES = $(ALIGNED)
ALIGNED := $(if $(CC),$(shell $(CC) -Werror -falign-labels=32 -fsyntax-only -x c /dev/null \
    2>/dev/null && echo -falign-labels=32))
$(GENERATED)/%.pb-c.c: layers/files/onnx/%.proto
	@mkdir -p $(@D)
	@$(FOUND_PROTOC) --c_out=$(@D) --proto_path=$(<D) $(<F)
ifneq ($(FOUND_PROTOC),)
$(call objects,$(ONNX_SOURCES)): $(ONNX_GENERATED)
$(call objects,$(ONNX_SOURCES)): DEFINES = -I$(GENERATED) $(PROTOBUF_CFLAGS)
$(call objects,$(ONNX_GENERATED)): DEFINES = -w $(PROTOBUF_CFLAGS) # not ours to warn of
endif
$(BUILD)/%.a:
	@rm -f $@
	@$(AR) rcs $@ $(filter %.o,$^)

# A report says how its program was built, in a C string.
BUILD_FLAGS = $(strip $(OPTIMIZE_VARIANT) $(FLOATING_POINT) $(CPPFLAGS) $(CFLAGS))
$(BUILD)/profiler/base/environment.o: DEFINES = \
    '-DBUILD_FLAGS="$(subst ",\",$(subst \,\\,$(BUILD_FLAGS)))"'

$(LIBRARY): $(call objects,$(LIBRARY_SOURCES)) $(BUILD)/sources
$(PROGRAMS): $(PROGRAM_FOLDER)%: $(BUILD)/profiler/%.o $(call objects,$(PROGRAM_SOURCES)) $(LIBRARY)
	$(call link,$(LIBS))

# ---- running -----------------------------------------------------------------------------------
run: $(PROGRAM_FOLDER)profile_mlp $(PROGRAMS) ## profile an MLP of three linear layers, and train it
	@./$<

# ---- installing --------------------------------------------------------------------------------
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share
# Paths may hold spaces: they are one word to the shell, and are given to no function that splits.
quote = '$(subst ','\'',$(1))'
to_lib = $(call quote,$(DESTDIR)$(LIBDIR))
to_include = $(call quote,$(DESTDIR)$(INCLUDEDIR)/ridgepoint)
to_bin = $(call quote,$(DESTDIR)$(BINDIR))
to_data = $(call quote,$(DESTDIR)$(DATADIR))
to_stage = $(call quote,$(DESTDIR))
# The names of the folders that install made, a line each and without DESTDIR: uninstall removes
# those, where they are empty, and no others.
FOLDERS_MADE = $(to_data)/ridgepoint/folders

# A header is public when it marks what is API (tensor/api.h).
LIBRARY_HEADERS := $(wildcard $(LIBRARY_FOLDERS:%=%/*.h))
PUBLIC_HEADERS = $(shell grep -l RIDGEPOINT_API_BEGIN $(LIBRARY_HEADERS))
UMBRELLA := profiler/ridgepoint.h
INSTALLED_HEADERS = ridgepoint.h $(filter-out $(UMBRELLA),$(PUBLIC_HEADERS))
# As they are installed: under ridgepoint/, and including each other from where they are, so that no
# -I is needed but one, and no tensor/tensor.h of somebody else's is taken for ours.
$(HEADERS): $(LIBRARY_HEADERS) $(LIBRARY_FOLDERS)
	@rm -rf build/include
	@for header in $(PUBLIC_HEADERS); do \
	    to=$(@D)/$$header; up=$$(dirname $$header | sed 's|[^/]*|..|g'); \
	    [ $$header != $(UMBRELLA) ] || { to=$@ up=.; }; \
	    mkdir -p $$(dirname $$to) && sed "s|^#include \"|&$$up/|" $$header >$$to || exit 1; \
	done

SONAME := libridgepoint.so.$(call VERSION_NUMBER,ABI)
# One object, in which the library's inner names are nobody else's. (gcc forgets that what it
# compiles for several processors, an ifunc, is hidden.)
$(WHOLE): $(call objects,$(LIBRARY_SOURCES)) $(BUILD)/sources
	@mkdir -p $(@D)
	@ld -r -o $@ $(filter %.o,$^)
	@objcopy --localize-hidden $$(nm $@ | \
	    awk '$$2 == "i" || $$3 ~ /\.resolver$$/ { print "-L", $$3 }') $@
$(STATIC): $(WHOLE)
# Its own calls stay its own, whatever names a program has.
$(SHARED): $(WHOLE)
	@$(STEP) 'link    $@' $(LINK) -shared -Wl,-soname,$(SONAME) -Wl,-Bsymbolic-functions -Wl,-z,defs -o $@ $< $(LIBS)

# What the programs say of themselves: manual pages, and what shells complete by.
PAGES := $(foreach p,$(notdir $(PROGRAMS)),man/man1/$p.1 bash-completion/completions/$p \
    zsh/site-functions/_$p)
$(BUILD)/installed/share/%: $(PROGRAMS)
	@mkdir -p $(@D)
	@./$(PROGRAM_FOLDER)$(patsubst _%,%,$(basename $(@F))) $(if $(filter %.1,$@),--man,\
	    --completion $(if $(filter zsh%,$*),zsh,bash)) >$@ || { rm -f $@; exit 1; }

# What each function takes and gives, as its header says it: a page for each room.
REFERENCE := $(patsubst %,build/reference/%.md,tensor autograd layers profiler)
build/reference/%.md: $(LIBRARY_HEADERS) $(wildcard $(TOOLS)/api_reference*)
	@mkdir -p $(@D)
	@$(TOOLS)/api_reference page $* $(sort $(PUBLIC_HEADERS)) >$@ || { rm -f $@; exit 1; }

# What is installed, built; and then nothing but copied, so that root need not build.
installable: all $(STATIC) $(SHARED) $(HEADERS) $(REFERENCE) $(PAGES:%=$(BUILD)/installed/share/%)
install: installable ## install library, headers and programs; PREFIX=, LIBDIR=, DESTDIR= ...
	@$(MAKE) --no-print-directory install-files
absolute = case $(call quote,$(1)) in /*) ;; *) echo "install: not an absolute path:" \
    $(call quote,$(1)); exit 1 ;; esac
blank := $() $()
pc_line = $(call quote,$(1)=$(subst ',\',$(subst $(blank),\$(blank),$(2))))
install-files:
	@$(call absolute,$(LIBDIR)); $(call absolute,$(INCLUDEDIR)); $(call absolute,$(BINDIR)); \
	    $(call absolute,$(DATADIR))
	@new() { [ -d $(to_stage)"$$1" ] || \
	        { { [ "$$1" = / ] || new "$$(dirname "$$1")"; } && install -d $(to_stage)"$$1" && echo "$$1"; }; }; \
	    made=$$(new $(call quote,$(DATADIR))/ridgepoint && \
	        new $(call quote,$(DATADIR))/doc/ridgepoint && new $(call quote,$(LIBDIR))/pkgconfig && \
	        new $(call quote,$(BINDIR)) && \
	        for folder in $(sort $(patsubst %/,%,$(dir $(PAGES)))); do \
	            new $(call quote,$(DATADIR))/$$folder || exit 1; done && \
	        for folder in $$(dirname $(INSTALLED_HEADERS) | sort -u); do \
	            new $(call quote,$(INCLUDEDIR))/ridgepoint/$$folder || exit 1; done) || exit 1; \
	    [ -z "$$made" ] || printf '%s\n' "$$made" >>$(FOLDERS_MADE)
	install -m 644 $(STATIC) $(to_lib)/libridgepoint.a
	install -m 755 $(SHARED) $(to_lib)
	ln -sf $(notdir $(SHARED)) $(to_lib)/$(SONAME)
	ln -sf $(SONAME) $(to_lib)/libridgepoint.so
	install -m 755 $(PROGRAMS) $(to_bin)
	$(if $(wildcard $(CUDA_PLUGIN)),install -m 755 $(CUDA_PLUGIN) $(to_lib))
	@for page in $(PAGES); do \
	    install -m 644 $(BUILD)/installed/share/$$page $(to_data)/$$page || exit 1; done
	install -m 644 $(REFERENCE) $(to_data)/doc/ridgepoint
	@for header in $(INSTALLED_HEADERS); do \
	    install -m 644 $(dir $(HEADERS))$$header $(to_include)/$$header || exit 1; \
	done
	@printf '%s\n' $(call pc_line,prefix,$(PREFIX)) $(call pc_line,libdir,$(LIBDIR)) \
	    $(call pc_line,includedir,$(INCLUDEDIR)) '' 'Name: ridgepoint' \
	    'Description: A small tensor framework that knows its cost' 'Version: $(VERSION)' \
	    'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lridgepoint' \
	    'Libs.private: $(LIBS) -pthread' >$(to_lib)/pkgconfig/ridgepoint.pc

uninstall: ## remove what install put there; the same PREFIX=, LIBDIR=, DESTDIR= ...
	rm -f $(addprefix $(to_lib)/,libridgepoint.a libridgepoint.so $(SONAME) $(notdir $(SHARED)) \
	    libridgepoint_cuda.so pkgconfig/ridgepoint.pc)
	rm -f $(addprefix $(to_bin)/,$(notdir $(PROGRAMS))) $(addprefix $(to_data)/,$(PAGES) \
	    $(REFERENCE:build/reference/%=doc/ridgepoint/%))
	@rm -f $(addprefix $(to_include)/,$(INSTALLED_HEADERS))
	@[ ! -f $(FOLDERS_MADE) ] || { made=$$(LC_ALL=C sort -ru $(FOLDERS_MADE)); rm $(FOLDERS_MADE); \
	    echo "$$made" | while IFS= read -r folder; do \
	        rmdir $(to_stage)"$$folder" 2>/dev/null || true; done; }

# ---- how far it is -----------------------------------------------------------------------------
# On a terminal the build is one line, which says how many of all steps are done: as many as a make
# would take that only shows them. What is only looked at again each time counts as old for it.
ifdef MAKE_TERMOUT
ifndef STEPS
export STEPS := $(shell mkdir -p build && rm -f build/steps; STEPS=0 MAKELEVEL=1 MAKEFLAGS= \
    $(MAKE) -n $(MAKEOVERRIDES) $(addprefix -o ,$(wildcard $(foreach kept,command sources,\
    build/*/$(kept) build/*/*/$(kept)))) $(MAKECMDGOALS) 2>/dev/null | grep -c '^$(STEP) ')
endif
endif

# ---- the rooms ---------------------------------------------------------------------------------
# What a room builds beyond the library is in a file of its own; a handout lacks some. By the
# alphabet, so that the tests come last: they know all the others.
include $(sort $(wildcard */rules.mk))

-include $(patsubst %.o,%.d,$(call objects,$(SOURCES)))

# Pages, sizes, quick tests; a handout is without.
-include .ci/rules.mk

endif
endif
