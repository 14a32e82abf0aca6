# Edsight. "make" alone prints this help.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

GO ?= go
# ARGS are passed on by run; RUN and FUZZTIME narrow test and fuzz.
ARGS ?=
RUN :=
FUZZTIME ?= 30s
IMAGE ?= edsight:latest
SIZE ?= small

LINT := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUMPT := $(GO) run mvdan.cc/gofumpt@v0.12.0
VULN := $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0

# What needs no other process than its own; the rest is under test/.
UNIT := ./cmd/... ./core/... ./server/... ./static/... ./views/...
LOCKS := $(shell find . -name package-lock.json -not -path '*/node_modules/*' 2>/dev/null)
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: help
help: ## print this help
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## serve the demo mesh and print the login URL; ARGS="--http 127.0.0.1:9090" for more flags
	@exec bin/edsight serve --demo $(ARGS)

.PHONY: build
build: ## build bin/edsight
	@[ -x bin/edsight ] || echo 'building bin/edsight, which takes some minutes the first time' >&2
	@$(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/edsight ./cmd/edsight

.PHONY: test
test: tools browser kube envoy ## run every test, end to end ones included
	$(GO) test -timeout 20m $(if $(RUN),-run '$(RUN)') ./...

.PHONY: check
check: check-generate lint race ## everything but end to end: what must hold before a commit

.PHONY: race
race: ## run the unit tests with the race detector
	$(GO) test -race -timeout 20m $(UNIT)

.PHONY: lint
lint: ## run golangci-lint
	$(LINT) run --allow-parallel-runners ./...

.PHONY: fmt
fmt: ## format Go and templ files
	@$(FUMPT) -w $$($(GO) list -f '{{.Dir}}' ./...)
	@$(GO) tool templ fmt views >/dev/null

.PHONY: generate
generate: ## generate Go from templ files
	@$(GO) tool templ generate -log-level error

.PHONY: check-generate
check-generate: ## fail if generated files are not those of their sources
	@sum() { find . -name '*_templ.go' -not -path '*/node_modules/*' | sort | xargs -r sha256sum | sha256sum; }; \
	before=$$(sum); $(MAKE) -s generate; \
	[ "$$before" = "$$(sum)" ] || { echo 'generated files were out of date; "make generate" has been run, commit what it wrote' >&2; exit 1; }

.PHONY: golden
golden: ## write the golden files anew; look at the difference before you commit
	@dirs=$$(grep -rlE 'flag\.Bool\("update"' --include='*_test.go' . | xargs -r -n1 dirname | sort -u); \
	for d in $$dirs; do $(GO) test $$d -update; done

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (30s)
	@grep -roHE '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' cmd core server views static 2>/dev/null | sort | \
	while IFS=: read -r file func; do \
		name=$${func#func }; dir=./$$(dirname "$$file"); echo "== $$dir $$name"; \
		$(GO) test "$$dir" -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME); \
	done

.PHONY: bench
bench: kube ## run the benchmarks, those against a real API server included
	$(GO) test -run '^$$' -bench . -benchmem -timeout 60m $(UNIT) ./test/bench

.PHONY: bench-load
bench-load: kube ## load a server of a real API server with ADS clients: SIZE=small, medium or large; SERVER for another one
	@test/xdsload/load.sh $(SIZE)

.PHONY: chaos
chaos: kube ## disturb 200 ADS clients for three minutes under the race detector, and again with an API server that crashes
	$(GO) test -race -timeout 15m -p 1 -run TestChaos ./core/ads ./test/dataplane -chaos 3m -chaos-clients 200

.PHONY: e2e
e2e: tools browser kube envoy ## run the end to end tests only
	$(GO) test -count 1 -timeout 20m $(if $(RUN),-run '$(RUN)') ./test/...

.PHONY: vuln
vuln: ## look for known vulnerabilities in what the program calls
	$(VULN) ./...

.PHONY: image
image: ## build the container image
	docker build -f deploy/Dockerfile --build-arg VERSION=$(VERSION) -t $(IMAGE) .

.PHONY: tools
tools: ## say which tools the tests lack; as root on Debian, install them
	@.ci/tools

.PHONY: kube
kube: ## build etcd and the Kubernetes binaries for the end to end tests, once
	@test/kube/build.sh >/dev/null

.PHONY: envoy
envoy: ## fetch Envoy for the end to end tests, once
	@test/dataplane/install.sh >/dev/null

.PHONY: browser
browser: $(LOCKS:package-lock.json=node_modules/.package-lock.json) ## fetch what the browser tests need from npm, as locked

%/node_modules/.package-lock.json: %/package-lock.json
	@echo "fetching the npm packages of $*" >&2
	@cd $* && npm ci --no-audit --no-fund --loglevel=error --ignore-scripts
	@touch $@
