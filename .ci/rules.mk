# rules.mk -- what holds the pages and the size of the project, and the quick tests. The Makefile
# includes it after everything else; .ci/run is what calls these.
.PHONY: reference check-reference check-size check-pages quick

# ---- pages -------------------------------------------------------------------------------------
reference: ## write what the headers say into the rooms' API.md
	@$(TOOLS)/api_reference write $(sort $(PUBLIC_HEADERS))
check-reference: ## verify that every API.md is what the headers say, and that it lacks nothing
	@$(TOOLS)/api_reference check $(sort $(PUBLIC_HEADERS))

# ---- size --------------------------------------------------------------------------------------
check-size: ## verify files and lines of each room against .ci/ceilings; LONG=1: what is long
	@.ci/check_size
