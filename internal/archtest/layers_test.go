package archtest

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// layerEntry is the layer of a package: it may import packages of lower layers.
type layerEntry struct {
	dir   string   // relative to the root; * matches one element of the path
	layer int      // alone, or the number of the layer
	peers []string // packages that it may import although they are not in a lower layer
	only  []string // if not nil, the only packages of this repository that it may import, in addition to peers
}

// alone is the layer of packages that import only their peers from this repository.
const alone = -1

// layerEntries lists every package with its layer. A package that is not listed is an error. The layers:
//
//	11 main · 10 the command tree · 9 commands · 8 what they share · 7 the user's code and data, all kinds
//	6 files and stores, workloads of apps · 5 kinds · 4 the lab · 3 processes, sockets, the clock
//	2 pure, about studies
//	1 pure, about numbers and bytes · 0 the nouns
func layerEntries() []layerEntry {
	return []layerEntry{
		{dir: ".", layer: 0},

		{dir: "stats", layer: 1},
		{dir: "tools/lookgen", layer: 2},
		{dir: "load/hist", layer: 1},
		{dir: "load/pace", layer: 1},
		{dir: "load/h2", layer: 1},
		{dir: "load/h3", layer: 1, peers: []string{"load/h2"}},
		{dir: "load/nap", layer: 3},
		{dir: "load/relay", layer: 3},
		{dir: "load/loadtest", layer: 3},
		{dir: "contender/wire", layer: 1},
		{dir: "contender/fixture", layer: 1},
		{dir: "studies", layer: 1},
		{dir: "internal/archtest", layer: 1, peers: []string{"internal/golden"}}, // in tests
		{dir: "internal/assert", layer: 1},
		{dir: "internal/golden", layer: 1},
		{dir: "internal/lazyregexp", layer: 0},
		{dir: "internal/format", layer: 1},
		{dir: "internal/plot", layer: 1, peers: []string{"internal/format"}},
		{dir: "internal/protowire", layer: 1},
		{dir: "internal/pool", layer: 2},
		{dir: "internal/userswire", layer: 2, peers: []string{"apps/users"}},
		{dir: "tools/agree", layer: 1},
		{dir: "tools/manifests", layer: alone},
		{dir: "tools/benchload", layer: 4},

		{dir: "internal/plan", layer: 2},
		{dir: "internal/check", layer: 2, peers: []string{"internal/evidence"}},
		{dir: "internal/judge", layer: 2, peers: []string{"internal/evidence"}},
		{dir: "internal/evidence", layer: 2},
		{dir: "report", layer: 2, only: []string{".", "load/hist", "internal/format", "internal/lazyregexp"}},
		{dir: "report/html", layer: 2, only: []string{".", "report", "internal/format", "internal/lazyregexp", "internal/plot", "load/hist", "report/html/htmltest"}}, // the last in tests
		{dir: "report/html/htmltest", layer: 2, only: []string{".", "load/hist"}},
		{dir: "report/html/htmltest/sample", layer: 4, only: []string{"."}},                                       // keeps results for the browser's test
		{dir: "report/html/htmltest/pages", layer: 4, only: []string{".", "report/html", "report/html/htmltest"}}, // writes pages for the browser's test

		{dir: "internal/machine", layer: 3},
		{dir: "internal/trial", layer: 3, peers: []string{"internal/machine"}},
		{dir: "load", layer: 3, peers: []string{"internal/machine", "load/nap"}},
		{dir: "internal/atomicfile", layer: 3, peers: []string{"internal/atomicfile/atomicfiletest"}}, // in tests
		{dir: "internal/atomicfile/atomicfiletest", layer: 3, peers: []string{"internal/atomicfile"}},
		{dir: "internal/build", layer: 3, peers: []string{"internal/machine", "internal/atomicfile", "internal/atomicfile/atomicfiletest"}},
		{dir: "contender", layer: 3, peers: []string{"load/nap"}},
		{dir: "contender/codec", layer: 3, peers: []string{"contender"}},
		{dir: "contender/copier", layer: 3, peers: []string{"contender"}},
		{dir: "contender/copier/cmem", layer: 3, peers: []string{"contender/copier"}},
		{dir: "contender/copier/cmem/cmemtest", layer: 3, peers: []string{"contender/copier", "contender/copier/cmem"}},
		{dir: "contender/router", layer: 3, peers: []string{"contender"}},
		{dir: "contender/server/rawtest", layer: 3}, // used by tests
		{dir: "contender/server", layer: 3, peers: []string{"contender", "contender/server/rawtest"}},
		{dir: "contender/server/nethttp", layer: 3, peers: []string{"contender/server", "apps/*", "apps/*/serving"}},
		{dir: "contender/rpc", layer: 3, peers: []string{"contender", "contender/server", "apps/*", "apps/*/serving"}},
		{dir: "apps/*/serving", layer: 3, peers: []string{"contender", "contender/server", "apps/*"}},
		{dir: "apps", layer: 4, peers: []string{"apps/*"}},
		{dir: "internal/conformance", layer: 3, peers: []string{"contender", "contender/*"}},
		{dir: "apps/ingest/profiles", layer: 2, peers: []string{"apps/ingest"}},
		{dir: "apps/*/conformance", layer: 3, peers: []string{"apps/*", "apps/*/serving", "internal/conformance", "contender/rpc", "contender/server"}},
		{dir: "contender/contendertest", layer: 4, peers: []string{"apps/*"}},

		{dir: "lab", layer: 4, peers: []string{"lab/journal"}},
		{dir: "lab/journal", layer: 4},
		{dir: "lab/labtest", layer: 4, peers: []string{"lab", "lab/journal", "internal/trial", "internal/build"}},

		{dir: "kinds/rpc", layer: 7, peers: []string{"apps/*"}},
		{dir: "kinds/server", layer: 5, peers: []string{"kinds", "apps/*", "apps/*/workload"}}, // in tests
		{dir: "kinds/*", layer: 5},
		{dir: "kinds", layer: 7, peers: []string{"apps/*", "kinds/*"}},
		{dir: "apps/*/workload", layer: 6, peers: []string{"apps/*"}},

		{dir: "cmd/tare/internal/suggest", layer: 1},
		{dir: "cmd/tare/internal/annotation", layer: 1},
		{dir: "cmd/tare/internal/secret", layer: 1},
		{dir: "cmd/tare/internal/textfile", layer: 1},
		{dir: "cmd/tare/internal/testtare", layer: 3, only: []string{}}, // for tests
		{dir: "cmd/tare/internal/footprint", layer: 1},
		{dir: "cmd/tare/internal/yamlfile", layer: 2},
		{dir: "cmd/tare/internal/openapi", layer: 3},
		{dir: "cmd/tare/internal/grpccall", layer: 3, only: []string{"cmd/tare/internal/grpccall/grpctest"}}, // in tests
		{dir: "cmd/tare/internal/grpccall/grpctest", layer: 3, only: []string{}},
		{dir: "cmd/tare/internal/profile", layer: 6},
		{dir: "cmd/tare/internal/counts", layer: 6},
		{dir: "cmd/tare/internal/catalog/archive", layer: 3, peers: []string{"internal/build"}},
		{dir: "cmd/tare/internal/catalog/pack", layer: 6},
		{dir: "cmd/tare/internal/catalog", layer: 6},
		{dir: "cmd/tare/internal/studyfile", layer: 6},
		{dir: "cmd/tare/internal/traffic", layer: 6},
		{dir: "cmd/tare/internal/http3/h3server", layer: alone}, // for tools/benchload
		{dir: "cmd/tare/internal/http3", layer: 6},
		{dir: "cmd/tare/internal/project", layer: 6},
		{dir: "cmd/tare/internal/project/survey", layer: 6},
		{dir: "cmd/tare/internal/history", layer: 6},
		{dir: "cmd/tare/internal/history/index", layer: 6, peers: []string{"cmd/tare/internal/history"}},
		{dir: "cmd/tare/internal/history/publish", layer: 7, peers: []string{"cmd/tare/internal/history"}},
		{dir: "cmd/tare/internal/history/foreign", layer: 6, peers: []string{"cmd/tare/internal/history"}},
		{dir: "cmd/tare/internal/sink", layer: 6},
		{dir: "cmd/tare/internal/sink/kinds", layer: 7, peers: []string{"cmd/tare/internal/sink/*"}},
		{dir: "cmd/tare/internal/sink/*", layer: 7},
		{dir: "cmd/tare/internal/benchstudy", layer: 7, peers: []string{"cmd/tare/internal/benchstudy/*"}},
		{dir: "cmd/tare/internal/jsonstudy", layer: 7},
		{dir: "cmd/tare/internal/benchstudy/samecode", layer: 6},
		{dir: "cmd/tare/internal/benchstudy/reach", layer: 6},
		{dir: "cmd/tare/internal/benchstudy/bisect", layer: 8, peers: []string{"cmd/tare/internal/benchstudy"}},
		{dir: "cmd/tare/internal/gitrev", layer: 6},
		{dir: "cmd/tare/internal/benchstudy/profilediff", layer: 7},
		{dir: "cmd/tare/internal/benchstudy/table", layer: 7, peers: []string{"cmd/tare/internal/benchstudy"}},
		{dir: "cmd/tare/internal/benchstudy/suite", layer: 7},
		{dir: "cmd/tare/internal/benchstudy/gate", layer: 7, peers: []string{"cmd/tare/internal/benchstudy/suite"}},
		{dir: "cmd/tare/internal/benchstudy/advice", layer: 6},
		{dir: "cmd/tare/internal/benchstudy/gocmd", layer: 6},
		{dir: "cmd/tare/internal/benchstudy/causestest", layer: 6, only: []string{}}, // for tests
		{dir: "cmd/tare/internal/releases", layer: 7},
		{dir: "cmd/tare/internal/routestudy", layer: 7},
		{dir: "cmd/tare/internal/fleet", layer: 7},
		{dir: "cmd/tare/internal/rpcstudy", layer: 7},
		{dir: "cmd/tare/internal/audit", layer: 5},
		{dir: "cmd/tare/internal/audit/rules", layer: 7},
		{dir: "cmd/tare/internal/audit/*", layer: 6}, // readers
		{dir: "cmd/tare/internal/cmdenv", layer: 8},
		{dir: "cmd/tare/internal/session", layer: 8, peers: []string{"cmd/tare/internal/cmdenv"}},
		{dir: "cmd/tare/internal/dryrun", layer: 8, peers: []string{"cmd/tare/internal/cmdenv", "cmd/tare/internal/session"}},
		{dir: "cmd/tare/internal/loadstudy", layer: 8, peers: []string{"cmd/tare/internal/cmdenv"}},
		{dir: "cmd/tare/internal/loadpage", layer: 8},
		{dir: "cmd/tare/internal/mcp", layer: 8},
		{dir: "cmd/tare/internal/receipt", layer: 8, peers: []string{"cmd/tare/internal/cmdenv", "cmd/tare/internal/session"}},
		{dir: "cmd/tare/internal/cmd/*", layer: 9}, // commands never import each other
		{dir: "cmd/tare/internal/cli", layer: 10},
		{dir: "cmd/tare/internal/manual", layer: 11},                                 // a generator
		{dir: "cmd/tare/internal/schema", layer: 8},                                  // tests of the published schemas
		{dir: "cmd/tare/internal/calibrate", layer: 8, only: []string{".", "stats"}}, // runs the command, and counts how often it is right
		{dir: "cmd/tare/internal/writeups", layer: 8},                                // writes the documents that quote saved runs
		{dir: "cmd/tare/internal/platforms", layer: 8},                               // type-checks as for other systems
		{dir: "cmd/tare/internal/docs", layer: 11},                                   // runs the documentation's commands
		{dir: "cmd/tare", layer: 11},
		{dir: "cmd/tare/internal/e2e", layer: 11},          // tests of the entire command
		{dir: "cmd/tare/internal/e2e/services", layer: 11}, // tests of services that run for real

		{dir: "cgocopy", layer: alone},
		{dir: "cgocopy/cgocopytest", layer: alone, peers: []string{"cgocopy", "cgocopy/internal/*"}},
		{dir: "cgocopy/examples", layer: alone, peers: []string{"cgocopy/internal/*"}}, // tests of the examples
		{dir: "cgocopy/examples/*", layer: alone, peers: []string{"cgocopy", "cgocopy/cgocopytest"}},
		{dir: "cgocopy/internal/e2e", layer: alone, peers: []string{"cgocopy", "cgocopy/cgocopytest", "cgocopy/internal/*"}}, // tests of the entire command
		{dir: "cgocopy/internal/*", layer: alone, peers: []string{"cgocopy", "cgocopy/internal/*"}},
		{dir: "cgocopy/cmd/cgocopy", layer: alone, peers: []string{"cgocopy", "cgocopy/internal/cli"}},
		{dir: "apps/ingest", layer: alone, peers: []string{"apps/ingest/sink", "apps/ingest/spool"}},
		{dir: "apps/ingest/commit", layer: alone},
		{dir: "apps/ingest/sink", layer: alone, peers: []string{"apps/ingest/commit", "internal/atomicfile", "internal/atomicfile/atomicfiletest"}},
		{dir: "apps/ingest/spool", layer: alone, peers: []string{"apps/ingest/commit", "internal/atomicfile", "internal/atomicfile/atomicfiletest"}},
		{dir: "apps/users/userstest", layer: alone, peers: []string{"apps/users"}},
		{dir: "apps/users/store", layer: alone, peers: []string{"apps/users", "apps/users/*", "apps/users/store/*"}},
		{dir: "apps/users/proto", layer: alone, peers: []string{"apps/users"}},
		{dir: "apps/*", layer: alone},

		{dir: "contenders/rpc/all", layer: 3, only: []string{"contender/*", "contenders/rpc/*/api", "apps/*"}},
		{dir: "contenders/rpc/null", layer: 3, only: []string{"contender/rpc", "contenders/rpc/null/api"}},
		{dir: "contenders/rpc/null/api", layer: 3, only: []string{"contender/*", "apps/users", "apps/users/conformance", "internal/protowire", "internal/userswire", "load/h2"}},
		{dir: "contenders/*/*", layer: 3, only: []string{"apps/*/conformance", "contender", "contender/*", "contender/server/nethttp", "contender/copier/cmem", "apps/*", "apps/*/serving", "apps/users/*", "cgocopy", "cgocopy/cgocopytest"}},
		{dir: "peers/*", layer: alone}, // other people's programs
		{dir: "examples/shop", layer: alone},
		{dir: "examples/shop/cmd/shop", layer: alone, peers: []string{"examples/shop"}},
		{dir: "bench/users", layer: 1, only: []string{"contender/rpc", "contender/server", "contenders/rpc/*/api", "apps/users"}},
		{dir: "bench/*", layer: 1, only: []string{"contender/fixture", "cgocopy", "cgocopy/cgocopytest"}},
		{dir: "tools/protogen", layer: 1}, // a generator
		{dir: "tools/release", layer: 1},  // makes versions
		{dir: "tools/notice", layer: 1},   // writes NOTICE
		{dir: "tools/beside", layer: 2},   // prints benchmarks next to published ones
		{dir: "tools/mutants", layer: 1},  // changes packages, to see whether their tests notice
		{dir: "tools/wording", layer: 1},  // counts unclear names and comments
	}
}

// entryOf returns the entry of a directory: the first one that matches, or for a package inside the module
// of a contender or a benchmark the entry of that module.
func entryOf(dir string) (layerEntry, bool) {
	for _, p := range layerEntries() {
		if matchPath(p.dir, dir) {
			return p, true
		}
	}
	for _, p := range layerEntries() {
		if strings.HasSuffix(p.dir, "*") && dir != "." {
			if depth := strings.Count(p.dir, "/") + 1; strings.Count(dir, "/") >= depth {
				if matchPath(p.dir, strings.Join(strings.Split(dir, "/")[:depth], "/")) {
					return p, true
				}
			}
		}
	}
	return layerEntry{}, false
}

// matchPath reports whether dir matches pattern, as in [path.Match].
func matchPath(pattern, dir string) bool {
	ok, err := path.Match(pattern, dir)
	return err == nil && ok
}

// mayImport reports whether a file in directory dir, whose entry is p, may import the package target. test
// reports whether it is a _test.go file.
func (p layerEntry) mayImport(dir, target string, test bool) bool {
	if root, _, hasStar := strings.Cut(p.dir, "*"); hasStar {
		// Inside the module of a contender or benchmark all packages may import each other.
		module := strings.Join(strings.Split(dir, "/")[:strings.Count(p.dir, "/")+1], "/")
		if strings.HasPrefix(target, root) && isUnder(target, module) {
			return true
		}
	}
	matchesAny := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { return matchPath(pattern, target) })
	}
	isTestHelper := test && isUnder(target, "internal/assert", "internal/golden")
	if dir == target || matchesAny(p.peers) || isTestHelper {
		return true
	}
	if p.only != nil {
		return matchesAny(p.only)
	}
	t, ok := entryOf(target)
	if !ok || p.layer == alone {
		return false
	}
	return t.layer < p.layer || test && t.layer == p.layer
}

// checkLayers checks every import of a package of this repository against the layers. Tests may also import
// packages of their own layer, internal/assert and internal/golden.
func checkLayers(t *Tree) []string {
	var out []string
	unlisted := map[string]bool{}
	for _, f := range t.Files {
		p, ok := entryOf(f.Dir)
		if !ok {
			unlisted[f.Dir] = true
			continue
		}
		for imported, pos := range f.Imports() {
			target, isLocal := t.localDir(imported)
			if isLocal && !p.mayImport(f.Dir, target, f.Test) {
				out = append(out, fmt.Sprintf("%s: %s must not import %s", t.position(pos), f.Dir, target))
			}
		}
	}
	for dir := range maps.Keys(unlisted) {
		out = append(out, fmt.Sprintf("%s: package is not listed; give it its layer in internal/archtest/layers_test.go", dir))
	}
	return out
}
