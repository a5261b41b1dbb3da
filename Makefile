# make help lists the targets. Everything needs Go and nothing else, except
# race, which needs a C compiler. A tool that does not run is one that is not
# there.

GO       ?= go
FUZZTIME ?= 20s
TESTFLAGS ?=
BENCHFLAGS ?=
OHA      ?= 1.16.0
GHZ      ?= v0.120.0
FORTIO   ?= v1.65.0
CADDY    ?= v2.10.2
AIOQUIC  ?= 1.7.2
# What installs packages: root itself, or sudo.
AS_ROOT   = $(shell [ $$(id -u) = 0 ] || echo sudo)

# A contender or a plain benchmark is a module of its own, outside the
# workspace, so that nobody else's requirements decide its versions. Some
# contenders are another build of one: their contender.json says of which.
LEAVES  := $(patsubst %/contender.json,%,$(wildcard contenders/*/*/contender.json))
MODULES  = $(patsubst %/go.mod,%,$(wildcard $(LEAVES:%=%/go.mod)))
BENCHES := $(patsubst %/go.mod,%,$(wildcard bench/*/go.mod peers/*/go.mod))
# Adapters of an app: its databases, and what is generated from its
# messages.
ADAPTERS := $(patsubst %/go.mod,%,$(wildcard apps/*/*/go.mod))
comma   := ,
space   := $(subst ,, )
# As tare builds them, so that nothing is compiled twice.
ALONE    = GOWORK=off GOFLAGS='-mod=readonly -trimpath'

# Programs for the repository have a module of their own outside the workspace; the
# linter has another one (tools/README.md).
TOOL = GOWORK=off $(GO) build -C tools -o $(CURDIR)/out/

# -modfile and a workspace exclude each other, so each module is linted alone.
LINT = GOWORK=off GOGC=400 $(GO) tool -modfile=$(CURDIR)/tools/lint/go.mod golangci-lint run --config $(CURDIR)/.golangci.yml

.DEFAULT_GOAL := help
.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Test and check

# With a C compiler that does not run, cgo is switched off, as the go command
# does with none. NO_CGO is looked up once, by what needs it.
EMPTY_C = '\#include <stdlib.h>\nint main(void) { return 0; }\n'
NO_CGO  = $(eval NO_CGO := $(shell out=$$(mktemp); printf $(EMPTY_C) | $$($(GO) env CC) -x c -o "$$out" - >/dev/null 2>&1 || echo CGO_ENABLED=0; rm -f "$$out"))$(NO_CGO)
# -short leaves out what needs many builds, many processes or many repetitions.
# make check is without it.
SHORT ?= -short
# Packages tested at a time: more than processors, because many tests wait. They
# are linked without DWARF, which takes two thirds of the time, and compiled with
# trimmed paths as contenders are, so that the standard library and what both need
# are compiled once.
PACKAGES ?= $(shell echo $$((3 * $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2))))
# Linkers and tests collect garbage a quarter as often as by default, which takes a
# seventh less processor time.
COLLECT = GOGC=400
# Packages that wait for most of their time. They are tested first: the others fill
# the processors meanwhile.
WAITING = ./cmd/tare/internal/cli ./cmd/tare/internal/benchstudy ./cmd/tare/internal/e2e/... ./load ./contender/contendertest
.PHONY: test
test: ## test every module of the workspace, architecture rules included; what needs many builds or processes is left to make check (make lint vets)
	$(if $(NO_CGO),@echo "no C compiler that runs: packages and tests that need one are left out")
	$(COLLECT) $(NO_CGO) $(GO) test -vet=off -trimpath -ldflags='-w -X github.com/tarebench/tare/cmd/tare/internal/catalog.clone=$(CURDIR)' -p $(PACKAGES) -timeout 45m $(SHORT) $(TESTFLAGS) $(WAITING) work

.PHONY: check
check: ## everything that a change has to pass, what make test leaves out too; prints the seconds of each step (STEPS='lint cross' for some)
	bash .ci/check $(STEPS)

.PHONY: race
race: ## the tests under the race detector
	$(GO) test -race -timeout 60m $(TESTFLAGS) work

# Go's own vet is for the modules that golangci-lint, whose govet is the same, does not
# read. It opens the files that cgo's output names. With trimmed paths that output comes
# from the build cache and may name those of another clone.
.PHONY: lint
lint: ## format, wording, vet (contenders and benchmarks too) and the linters of .golangci.yml
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not formatted (gofmt -w):"; echo "$$unformatted"; exit 1; fi
	$(TOOL) ./wording
	out/wording
	@printf '%s\n' $(MODULES) $(BENCHES) $(ADAPTERS) | $(ALONE) xargs -P $(PACKAGES) -I DIR sh -c 'echo "go vet in DIR"; cd DIR && if grep -qs "^import \"C\"" *.go; then GOFLAGS=-mod=readonly; fi && $(GO) vet ./...'
	$(LINT) ./...
	cd cmd/tare && $(LINT) ./...
	cd cgocopy && $(LINT) ./...
	cd tools && $(LINT) ./...

.PHONY: soak
soak: ## the repetition-heavy tests whole
	TARE_SOAK=1 $(GO) test -count=1 -timeout 120m $(TESTFLAGS) work

.PHONY: faults
faults: ## every operation of every store failing, power loss, ten tares at once, 200 kills over nginx and PostgreSQL: counts printed
	TARE_SOAK=1 $(GO) test -count=1 -v -timeout 180m -run 'Fault|Kill|Power|ReadError|RealFileSystem|NoRoom|ReadOnly|TenAtOnce|ClockJumps|ChangedBytes' \
		./internal/atomicfile ./internal/build ./lab/journal ./apps/ingest/sink ./apps/ingest/spool ./cmd/tare/internal/history/... ./cmd/tare/internal/session ./cmd/tare/internal/cli ./cmd/tare/internal/e2e

.PHONY: sinks
sinks: ## every sink whole: 100 kills of the service and 50 of its far side each, counts printed; then over real servers, where they can be had
	cd cmd/tare && TARE_SOAK=1 $(GO) test -count=1 -v -timeout 60m -run '^(TestConformance|TestKilled)$$' ./internal/sink/...
	TARE_SOAK=1 bash .ci/brokers

.PHONY: services
services: ## tare serve under hostile requests, with its far side away and a full disk, by the ten steps, and what each sink costs: tables printed
	cd cmd/tare && TARE_SOAK=1 $(GO) test -count=1 -v -timeout 60m -skip '^TestHour$$' ./internal/e2e/services

.PHONY: hour
hour: ## three services for an hour, under traffic that they take and hostile requests at once: what they hold is printed
	cd cmd/tare && TARE_SOAK=1 $(GO) test -count=1 -v -timeout 90m -run '^TestHour$$' ./internal/e2e/services

.PHONY: interop
INTEROP = $(CURDIR)/out/interop
HTTP3   = cmd/tare/internal/http3
interop: ## HTTP/3 with servers on quinn (needs cargo 1.85), aioquic (python3-venv) and Caddy: answers, loss, Retry, GOAWAY, resets, restarts
	mkdir -p $(INTEROP)
	cargo build --release --locked --manifest-path $(HTTP3)/testdata/interop/quinn/Cargo.toml --target-dir $(INTEROP)/quinn
	cp $(INTEROP)/quinn/release/h3-quinn-server $(INTEROP)/
	python3 -m venv $(INTEROP)/venv && $(INTEROP)/venv/bin/pip install -q aioquic==$(AIOQUIC)
	GOBIN=$(INTEROP) GOWORK=off GOFLAGS= $(GO) install github.com/caddyserver/caddy/v2/cmd/caddy@$(CADDY)
	cd cmd/tare && TARE_INTEROP=$(INTEROP) $(GO) test -count=1 -v -run '^TestInterop$$' ./internal/http3

.PHONY: memory
memory: ## the resident memory of the load generator with 10,000 connections, by engine and protocol: printed
	TARE_SOAK=1 $(GO) test -count=1 -v -timeout 60m -run '^TestMemoryOfConnections$$' ./load ./cmd/tare/internal/http3

.PHONY: fuzz fuzz-long corpus
fuzz: ## every fuzz target for FUZZTIME (20s); FUZZ chooses some; out/fuzz.txt lists executions
	.ci/fuzz $(FUZZTIME)
fuzz-long: ## every fuzz target for half an hour, or FUZZTIME if it is given
	.ci/fuzz $(if $(filter command line environment,$(origin FUZZTIME)),$(FUZZTIME),30m)
corpus: ## small inputs that fuzzing found and that reach something new become part of the tests; FUZZ chooses the targets
	.ci/corpus '$(or $(FUZZ),.)'

.PHONY: tools
tools: ## test the programs for the repository, and the manifests of deploy/kubernetes against Kubernetes' types
	cd tools && GOWORK=off $(GO) test $(TESTFLAGS) ./...

.PHONY: cross
cross: ## type-check the root and the command as for macOS and Windows, tests included
	$(GO) run ./cmd/tare/internal/platforms darwin/arm64 windows/amd64

.PHONY: mutants
mutants: ## change one place at a time, 207 in all, and count the changes that the tests of the package notice (goes on where it stopped)
	$(TOOL) ./mutants
	out/mutants

.PHONY: page
page: ## reports in a real browser: Node 20 and Chromium (TARE_BROWSER_REQUIRED=1: skipping is an error)
	npm ci --prefix tools/page --no-fund --no-audit
	npm test --prefix tools/page

.PHONY: docs
docs: ## run the shell blocks of README and docs, those that take long too, for two rounds where they measure (TARE_DOCS=whole: as they stand, and those that take minutes and a public repository)
	cd cmd/tare && TARE_DOCS=$${TARE_DOCS:-slow} $(GO) test -count=1 -v -timeout 120m ./internal/docs

.PHONY: nightly
nightly: ## what takes too long for every change: race, soak, mutants, the documentation as it stands, fuzzing for 30 min a target, contenders, known vulnerabilities, two equal archives
	$(MAKE) race
	$(MAKE) soak
	$(MAKE) mutants
	TARE_DOCS=whole $(MAKE) docs
	$(MAKE) fuzz-long
	$(MAKE) contenders
	$(MAKE) vuln
	.ci/reproducible

# Each of our modules alone, with the versions that it would be built with.
OWN = . cgocopy cmd/tare tools $(ADAPTERS) $(BENCHES) $(MODULES)
.PHONY: vuln notice
VULNDB ?= https://vuln.go.dev
vuln: ## look for known vulnerabilities that our modules can reach (VULNDB=file:///DIR for a copy of the database)
	$(TOOL) golang.org/x/vuln/cmd/govulncheck
	@failed=; for dir in $(OWN); do echo "== $$dir"; (cd $$dir && GOWORK=off $(CURDIR)/out/govulncheck -db $(VULNDB) ./...) || failed="$$failed $$dir"; done; \
	if [ "$$failed" ]; then echo "not clean, or not checked:$$failed"; exit 1; fi
notice: ## write NOTICE, the licences of all that is linked into tare
	$(TOOL) ./notice
	out/notice

##@ Generate

# Examples of cgocopy that need more than a C compiler.
EXAMPLES = $(shell cargo --version >/dev/null 2>&1 && echo rustlib)$(comma)$(shell pkg-config --exists sqlite3 2>/dev/null && echo sqlite)$(comma)$(shell [ -x "$$(gcc -print-prog-name=cc1obj 2>/dev/null)" ] && echo objc)
.PHONY: generate
generate: ## write generated files anew
	$(GO) generate ./... ./cmd/tare/...
	cd tools && GOWORK=off $(GO) generate ./...
	cd cgocopy && $(GO) generate -tags '$(EXAMPLES)' ./examples/...

.PHONY: checkgenerate
checkgenerate: ## fail if generating changes a file
	@before=$$(git status --porcelain; git diff); $(MAKE) --no-print-directory generate; after=$$(git status --porcelain; git diff); \
	if [ "$$before" != "$$after" ]; then echo "generated files were out of date:"; git status --short; exit 1; fi

# Generators of contenders belong to their modules; what they write is committed.
GENERATED := $(addprefix codec/,easyjson ffjson msgp protobuf) $(addprefix server/nethttp-,easyjson ffjson protobuf) $(addprefix copier/,cgocopy protobuf) $(addprefix rpc/,grpc gateway connect)
.PHONY: generated
generated: ## fail if a contender's generated code is not what its generator writes
	cd tools && GOWORK=off $(GO) test ./protogen
	@set -e; for leaf in $(GENERATED); do echo "== $$leaf"; (cd contenders/$$leaf && GOWORK=off $(GO) generate ./...); done
	cd apps/users/proto && GOWORK=off $(GO) generate ./...
	git diff --exit-code --stat -- contenders apps

.PHONY: golden
golden: ## rewrite the golden files; read the difference before committing it
	$(GO) test ./report ./cmd/tare/internal/cli ./cmd/tare/internal/cmd/loadcmd ./cmd/tare/internal/benchstudy/gate -update

##@ Contenders

.PHONY: contenders
contenders: ## build every contender alone and run the conformance suite on it (LEAVES=contenders/KIND/ID for one)
	$(NO_CGO) $(GO) test -count=1 -timeout 40m -run '^TestLeaves$$' ./contender/contendertest -leaves "$(subst $(space),$(comma),$(strip $(LEAVES:contenders/%=%)))"

# Transports have tests of their own, next to the conformance suite.
TRANSPORTS = $(patsubst %/go.mod,%,$(wildcard contenders/rpc/*/go.mod)) bench/users
.PHONY: users
users: ## the users service: its stores on real databases, and each transport through its own client (make contenders has the builds with databases)
	@set -e; for dir in $(ADAPTERS); do echo "== $$dir"; (cd $$dir && $(ALONE) $(GO) test $(TESTFLAGS) ./...); done
	@set -e; for dir in $(TRANSPORTS); do echo "== $$dir"; (cd $$dir && $(ALONE) $(GO) test $(TESTFLAGS) ./...); done

##@ Measure

.PHONY: claims
claims: ## measure every bundled study at the quick budget and compare the published claims with it (about 20 minutes)
	$(GO) run ./cmd/tare run

.PHONY: benchmarks
benchmarks: ## the plain go test -bench files of all modules under bench (BENCHFLAGS='-benchtime 100x' for less of each)
	@set -e; for dir in $(filter bench/%,$(BENCHES)); do echo "== $$dir"; (cd $$dir && $(ALONE) $(GO) test -run '^$$' -bench . -benchmem $(BENCHFLAGS)); done

# The targets of the published comparison of gRPC, Gin and the gateway, by the same
# names, and profiles of what it compared. Each prints the published figures beside
# those measured (the profiles in the report, under "The published table"). PROFILED says how much of the study, for
# less of it say PROFILED='--rounds 4 --contender grpc --workload get/c10'.
USERS_BENCH = cd bench/users && $(ALONE) $(GO) test -run '^$$' -benchmem $(BENCHFLAGS)
BESIDE = | out/beside -published
PROFILED ?= --budget quick
.PHONY: benchmark benchmark-grpc benchmark-gin benchmark-rest benchmark-cpu benchmark-mem
.PHONY: beside
beside:
	@$(TOOL) ./beside
benchmark: beside ## users over gRPC, Gin and the gateway, as plain benchmarks
	@($(USERS_BENCH) -bench '^Benchmark(GRPC|Gin|Gateway)_') $(BESIDE) bench/users/published.txt
benchmark-grpc: beside ## users over gRPC alone
	@($(USERS_BENCH) -bench '^BenchmarkGRPC_') $(BESIDE) bench/users/published.txt
benchmark-gin: beside ## users over Gin alone
	@($(USERS_BENCH) -bench '^BenchmarkGin_') $(BESIDE) bench/users/published.txt
benchmark-rest: beside ## users over the gateway alone
	@($(USERS_BENCH) -bench '^BenchmarkGateway_') $(BESIDE) bench/users/published.txt
benchmark-cpu: ## measure users at quick budget, and say where CPU time goes and what makes the difference
	$(GO) run ./cmd/tare run users $(PROFILED) --profile cpu
benchmark-mem: ## the same of allocated memory
	$(GO) run ./cmd/tare run users $(PROFILED) --profile mem

# The published copier's own benchmarks, run both ways: after the tests of its package,
# which empty its registry, and alone. ORIGINAL is a clone of it.
ORIGINAL ?= ../cgocopy
COPIER = cd $(ORIGINAL)/pkg/cgocopy && GOWORK=off $(GO) test -benchmem $(BENCHFLAGS) -bench '_(SimplePerson|GameObject)$$'
.PHONY: benchmark-copy
benchmark-copy: beside ## the published struct copier from a clone (ORIGINAL=../cgocopy), with its tests and without, beside Copy, FromC, cgo by hand and JSON
	@test -d $(ORIGINAL)/pkg/cgocopy || { echo "no clone in $(ORIGINAL): git clone https://github.com/shaban/cgocopy $(ORIGINAL) && git -C $(ORIGINAL) checkout 1f5fff23"; exit 1; }
	@mkdir -p out
	@($(COPIER)) >out/copy-with-tests.txt
	@($(COPIER) -run '^$$') >out/copy-alone.txt
	@(cd bench/ffi && $(ALONE) $(GO) test -run '^$$' -benchmem $(BENCHFLAGS) -bench .) >out/copy-here.txt
	@out/beside -published bench/ffi/published.txt 'its library, with its tests=out/copy-with-tests.txt' "its library, -run '^\$$'=out/copy-alone.txt" 'tare=out/copy-here.txt'

.PHONY: bench-load
bench-load: ## the load generator against wrk, oha, h2load, ghz and fortio (installed where apt-get and cargo are), two hours on a quiet machine
	command -v wrk >/dev/null || { $(AS_ROOT) apt-get update -q && $(AS_ROOT) apt-get install -y -q --no-install-recommends wrk nghttp2-client; }
	command -v oha >/dev/null || ! cargo --version >/dev/null 2>&1 || cargo install --locked --features http3 --root out/oha oha@$(OHA)
	mkdir -p out
	GOBIN=$(CURDIR)/out/bin GOWORK=off GOFLAGS= $(GO) install github.com/bojand/ghz/cmd/ghz@$(GHZ)
	GOBIN=$(CURDIR)/out/bin GOWORK=off GOFLAGS= $(GO) install fortio.org/fortio@$(FORTIO)
	$(TOOL) ./benchload
	$(GO) build -o out/tare ./cmd/tare
	$(GO) build -o out/h3server ./cmd/tare/internal/http3/h3server
	PATH="$$PATH:$(CURDIR)/out/oha/bin:$(CURDIR)/out/bin" out/benchload -tare $(CURDIR)/out/tare -h3 '$(CURDIR)/out/h3server $$PORT $$BODY'

.PHONY: calibrate
calibrate: ## measure programs of known cost 120 times (about an hour), then calibrate-counts, and write the tables in docs/calibration/README.md; goes on where it stopped
	$(GO) build -o out/tare ./cmd/tare
	$(GO) run ./cmd/tare/internal/calibrate -tare ./out/tare

.PHONY: calibrate-counts
calibrate-counts: ## count instructions of planted differences 70 times, and of ten public modules against themselves, idle and beside busy loops; goes on where it stopped
	$(GO) build -o out/tare ./cmd/tare
	$(GO) run ./cmd/tare/internal/calibrate -tare ./out/tare -counts

SEARCHES ?= 20
METRIC ?= time
.PHONY: bisects
bisects: ## find a planted 8 % (METRIC=instructions: 1 %) among 32 commits SEARCHES times, by tare bisect and by git bisect run with benchstat's test and write the table in docs/bisect.md (five minutes each; goes on where it stopped)
	$(GO) build -o out/tare ./cmd/tare
	$(GO) build -o out/calibrate ./cmd/tare/internal/calibrate
	out/calibrate -tare out/tare -bisects $(SEARCHES) -metric $(METRIC)

.PHONY: write-ups
write-ups: ## write docs/claims.md, docs/results.md, docs/research, the transcripts and the README's excerpt from the kept runs (RUNS='tiny ffi' measures those first, RUNS=all takes hours)
	$(if $(RUNS),$(GO) build -o out/tare ./cmd/tare)
	$(GO) run ./cmd/tare/internal/writeups $(if $(RUNS),-tare out/tare $(RUNS))

.PHONY: recording
recording: ## record tare bench in a terminal, as docs/images/bench.svg (installs asciinema where apt-get is; needs Node)
	command -v asciinema >/dev/null || { $(AS_ROOT) apt-get update -q && $(AS_ROOT) apt-get install -y -q --no-install-recommends asciinema; }
	$(GO) build -o out/tare ./cmd/tare
	tools/recording/record out/tare docs/images/bench.svg

##@ Install and release

# What go install ./cmd/tare makes uses this clone; this one needs none.
CATALOG = cmd/tare/internal/catalog
.PHONY: install
install: ## install a tare that has the contenders and the SDK inside
	@trap 'rm -f $(CATALOG)/packed/catalog.txt' EXIT; set -e; \
	$(GO) run ./$(CATALOG)/pack -o $(CATALOG)/packed/catalog.txt; \
	$(GO) install -trimpath ./cmd/tare

.PHONY: api
api: ## exported names that changed incompatibly since the newest tag, or RELEASE=v0.1.0; fails for those that docs/api.md promises
	$(TOOL) golang.org/x/exp/cmd/apidiff
	.ci/api $(RELEASE)

.PHONY: manual release release-check
manual: ## write manual pages and completions to out
	cd cmd/tare && SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(GO) run ./internal/manual $(CURDIR)/out
release: ## tag VERSION=v0.N.N, each module; nothing is pushed
	cd tools && GOWORK=off $(GO) run ./release -version $(VERSION)
release-check: ## make the tree's last commit VERSION (v0.0.1), untagged: archive, deb, image and checksums in out/release; install each in an empty home, with a verdict on a module that is not ours
	cd tools && GOWORK=off $(GO) run ./release -version $(or $(VERSION),v0.0.1) -check -studies -out $(CURDIR)/out/release

##@ Tidy

.PHONY: clean
clean: ## remove what builds and runs left here (not the cache)
	rm -rf out tare
	find . -name '*.test' -o -name '*.prof' -o -name coverage.out | xargs rm -f
