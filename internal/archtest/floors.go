package archtest

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// place is where a package stands: it may import what stands lower.
type place struct {
	dir   string   // from the root; a * stands for any one element
	floor int      // floors below 0 import nothing of ours
	peers []string // what it may import although it does not stand lower
	only  []string // not nil: of ours it may import these and nothing else
}

const alone = -1

// places lists every package: an unlisted one fails. The floors:
//
//	11 main · 10 the command tree · 9 commands · 8 what they share · 7 bring, all kinds
//	6 files and stores, workloads of apps · 5 kinds · 4 the lab · 3 processes, sockets, the clock
//	2 pure, about studies
//	1 pure, about numbers and bytes · 0 the nouns
func places() []place {
	return []place{
		{dir: ".", floor: 0},

		{dir: "stats", floor: 1},
		{dir: "tools/lookgen", floor: 2},
		{dir: "load/hist", floor: 1},
		{dir: "load/pace", floor: 1},
		{dir: "load/h2", floor: 1},
		{dir: "load/nap", floor: 3},
		{dir: "load/relay", floor: 3},
		{dir: "load/loadtest", floor: 3},
		{dir: "contender/wire", floor: 1},
		{dir: "contender/fixture", floor: 1},
		{dir: "studies", floor: 1},
		{dir: "internal/archtest", floor: 1},
		{dir: "internal/assert", floor: 1},
		{dir: "internal/golden", floor: 1},
		{dir: "internal/format", floor: 1},
		{dir: "internal/protowire", floor: 1},
		{dir: "tools/agree", floor: 1},
		{dir: "tools/manifests", floor: alone},
		{dir: "tools/benchload", floor: 4},

		{dir: "internal/plan", floor: 2},
		{dir: "internal/check", floor: 2},
		{dir: "internal/judge", floor: 2},
		{dir: "report", floor: 2, only: []string{".", "load/hist"}},
		{dir: "report/html", floor: 2, only: []string{".", "report", "load/hist", "report/html/htmltest"}}, // the last in tests
		{dir: "report/html/htmltest", floor: 2, only: []string{".", "load/hist"}},
		{dir: "report/html/htmltest/sample", floor: 4, only: []string{"."}},                                       // keeps results for the browser's test
		{dir: "report/html/htmltest/pages", floor: 4, only: []string{".", "report/html", "report/html/htmltest"}}, // writes pages for the browser's test

		{dir: "internal/machine", floor: 3},
		{dir: "internal/trial", floor: 3, peers: []string{"internal/machine"}},
		{dir: "load", floor: 3, peers: []string{"internal/machine", "load/nap"}},
		{dir: "internal/whole", floor: 3, peers: []string{"internal/whole/wholetest"}}, // in tests
		{dir: "internal/whole/wholetest", floor: 3, peers: []string{"internal/whole"}},
		{dir: "internal/build", floor: 3, peers: []string{"internal/whole", "internal/whole/wholetest"}},
		{dir: "contender", floor: 3, peers: []string{"load/nap"}},
		{dir: "contender/codec", floor: 3, peers: []string{"contender"}},
		{dir: "contender/copier", floor: 3, peers: []string{"contender"}},
		{dir: "contender/copier/cmem", floor: 3, peers: []string{"contender/copier"}},
		{dir: "contender/copier/cmem/cmemtest", floor: 3, peers: []string{"contender/copier", "contender/copier/cmem"}},
		{dir: "contender/router", floor: 3, peers: []string{"contender"}},
		{dir: "contender/server", floor: 3, peers: []string{"contender"}},
		{dir: "contender/server/nethttp", floor: 3, peers: []string{"contender/server", "apps/*", "apps/*/serving"}},
		{dir: "contender/rpc", floor: 3, peers: []string{"contender", "contender/server", "apps/*", "apps/*/serving"}},
		{dir: "apps/*/serving", floor: 3, peers: []string{"contender", "contender/server", "apps/*"}},
		{dir: "apps", floor: 4, peers: []string{"apps/*"}},
		{dir: "internal/conformance", floor: 3, peers: []string{"contender", "contender/*"}},
		{dir: "apps/ingest/profiles", floor: 2, peers: []string{"apps/ingest"}},
		{dir: "apps/*/conformance", floor: 3, peers: []string{"apps/*", "apps/*/serving", "internal/conformance", "contender/rpc", "contender/server"}},
		{dir: "contender/contendertest", floor: 4, peers: []string{"apps/*"}},

		{dir: "lab", floor: 4, peers: []string{"lab/journal"}},
		{dir: "lab/journal", floor: 4},
		{dir: "lab/labtest", floor: 4, peers: []string{"lab", "lab/journal", "internal/trial", "internal/build"}},

		{dir: "kinds/rpc", floor: 7, peers: []string{"apps/*"}},
		{dir: "kinds/server", floor: 5, peers: []string{"kinds", "apps/*", "apps/*/workload"}}, // in tests
		{dir: "kinds/*", floor: 5},
		{dir: "kinds", floor: 7, peers: []string{"apps/*", "kinds/*"}},
		{dir: "apps/*/workload", floor: 6, peers: []string{"apps/*"}},

		{dir: "cmd/tare/internal/near", floor: 1},
		{dir: "cmd/tare/internal/yamlfile", floor: 2},
		{dir: "cmd/tare/internal/grpccall", floor: 3, only: []string{"cmd/tare/internal/grpccall/grpctest"}}, // in tests
		{dir: "cmd/tare/internal/grpccall/grpctest", floor: 3, only: []string{}},
		{dir: "cmd/tare/internal/profile", floor: 6},
		{dir: "cmd/tare/internal/catalog/archive", floor: 3, peers: []string{"internal/build"}},
		{dir: "cmd/tare/internal/catalog/pack", floor: 6},
		{dir: "cmd/tare/internal/catalog", floor: 6},
		{dir: "cmd/tare/internal/studyfile", floor: 6},
		{dir: "cmd/tare/internal/traffic", floor: 6},
		{dir: "cmd/tare/internal/overquic", floor: 6},
		{dir: "cmd/tare/internal/project", floor: 6},
		{dir: "cmd/tare/internal/project/survey", floor: 6},
		{dir: "cmd/tare/internal/history", floor: 6},
		{dir: "cmd/tare/internal/history/index", floor: 6, peers: []string{"cmd/tare/internal/history"}},
		{dir: "cmd/tare/internal/history/publish", floor: 7, peers: []string{"cmd/tare/internal/history"}},
		{dir: "cmd/tare/internal/history/foreign", floor: 6, peers: []string{"cmd/tare/internal/history"}},
		{dir: "cmd/tare/internal/sink", floor: 6},
		{dir: "cmd/tare/internal/sink/kinds", floor: 7, peers: []string{"cmd/tare/internal/sink/*"}},
		{dir: "cmd/tare/internal/sink/*", floor: 7},
		{dir: "cmd/tare/internal/bring", floor: 7, peers: []string{"cmd/tare/internal/bring/*"}},
		{dir: "cmd/tare/internal/bring/document", floor: 7},
		{dir: "cmd/tare/internal/bring/samecode", floor: 6},
		{dir: "cmd/tare/internal/bring/reach", floor: 6},
		{dir: "cmd/tare/internal/bring/bisect", floor: 8, peers: []string{"cmd/tare/internal/bring"}},
		{dir: "cmd/tare/internal/bring/tree", floor: 7},
		{dir: "cmd/tare/internal/bring/why", floor: 7},
		{dir: "cmd/tare/internal/bring/table", floor: 7, peers: []string{"cmd/tare/internal/bring"}},
		{dir: "cmd/tare/internal/bring/suite", floor: 7},
		{dir: "cmd/tare/internal/bring/gate", floor: 7},
		{dir: "cmd/tare/internal/bring/advice", floor: 6},
		{dir: "cmd/tare/internal/bring/routes", floor: 7},
		{dir: "cmd/tare/internal/fleet", floor: 7},
		{dir: "cmd/tare/internal/cmdenv", floor: 8},
		{dir: "cmd/tare/internal/session", floor: 8, peers: []string{"cmd/tare/internal/cmdenv"}},
		{dir: "cmd/tare/internal/loadstudy", floor: 8, peers: []string{"cmd/tare/internal/cmdenv"}},
		{dir: "cmd/tare/internal/loadpage", floor: 8},
		{dir: "cmd/tare/internal/cmd/*", floor: 9}, // commands never import each other
		{dir: "cmd/tare/internal/cli", floor: 10},
		{dir: "cmd/tare/internal/manual", floor: 11},                                 // a generator
		{dir: "cmd/tare/internal/schema", floor: 8},                                  // tests of the published schemas
		{dir: "cmd/tare/internal/calibrate", floor: 8, only: []string{".", "stats"}}, // runs the command, and counts how often it is right
		{dir: "cmd/tare/internal/writeups", floor: 8},                                // writes the documents that quote kept runs
		{dir: "cmd/tare/internal/docs", floor: 8},                                    // runs the documentation's commands
		{dir: "cmd/tare", floor: 11},
		{dir: "cmd/tare/internal/e2e", floor: 11},          // tests of the whole command
		{dir: "cmd/tare/internal/e2e/services", floor: 11}, // tests of services that run for real

		{dir: "cgocopy", floor: alone},
		{dir: "cgocopy/cgocopytest", floor: alone, peers: []string{"cgocopy", "cgocopy/internal/*"}},
		{dir: "cgocopy/examples", floor: alone, peers: []string{"cgocopy/internal/*"}}, // tests of the examples
		{dir: "cgocopy/examples/*", floor: alone, peers: []string{"cgocopy", "cgocopy/cgocopytest"}},
		{dir: "cgocopy/internal/whole", floor: alone, peers: []string{"cgocopy", "cgocopy/cgocopytest", "cgocopy/internal/*"}}, // tests of the whole command
		{dir: "cgocopy/internal/*", floor: alone, peers: []string{"cgocopy", "cgocopy/internal/*"}},
		{dir: "cgocopy/cmd/cgocopy", floor: alone, peers: []string{"cgocopy", "cgocopy/internal/cli"}},
		{dir: "apps/ingest", floor: alone, peers: []string{"apps/ingest/sink", "apps/ingest/spool"}},
		{dir: "apps/ingest/commit", floor: alone},
		{dir: "apps/ingest/disk", floor: alone},
		{dir: "apps/ingest/disk/disktest", floor: alone, peers: []string{"apps/ingest/disk"}},
		{dir: "apps/ingest/sink", floor: alone, peers: []string{"apps/ingest/commit", "apps/ingest/disk", "apps/ingest/disk/disktest"}},
		{dir: "apps/ingest/spool", floor: alone, peers: []string{"apps/ingest/commit", "apps/ingest/disk", "apps/ingest/disk/disktest"}},
		{dir: "apps/users/userstest", floor: alone, peers: []string{"apps/users"}},
		{dir: "apps/users/store", floor: alone, peers: []string{"apps/users", "apps/users/*", "apps/users/store/*"}},
		{dir: "apps/users/proto", floor: alone, peers: []string{"apps/users"}},
		{dir: "apps/*", floor: alone},

		{dir: "contenders/rpc/all", floor: 3, only: []string{"contender/*", "contenders/rpc/*/face", "apps/*"}},
		{dir: "contenders/rpc/null", floor: 3, only: []string{"contender/rpc", "contenders/rpc/null/face"}},
		{dir: "contenders/rpc/null/face", floor: 3, only: []string{"contender/*", "apps/users", "apps/users/conformance", "internal/protowire", "load/h2"}},
		{dir: "contenders/*/*", floor: 3, only: []string{"apps/*/conformance", "contender", "contender/*", "contender/server/nethttp", "contender/copier/cmem", "apps/*", "apps/*/serving", "apps/users/*", "cgocopy", "cgocopy/cgocopytest"}},
		{dir: "peers/*", floor: alone}, // other people's programs
		{dir: "examples/shop", floor: alone},
		{dir: "examples/shop/cmd/shop", floor: alone, peers: []string{"examples/shop"}},
		{dir: "bench/users", floor: 1, only: []string{"contender/rpc", "contender/server", "contenders/rpc/*/face", "apps/users"}},
		{dir: "bench/*", floor: 1, only: []string{"contender/fixture", "cgocopy", "cgocopy/cgocopytest"}},
		{dir: "tools/protogen", floor: 1}, // a generator
		{dir: "tools/release", floor: 1},  // makes versions
		{dir: "tools/notice", floor: 1},   // writes NOTICE
	}
}

// placeOf finds the place of a directory. A package inside a contender's or a
// benchmark's own module stands where its module does.
func placeOf(dir string) (place, bool) {
	for _, p := range places() {
		if matches(p.dir, dir) {
			return p, true
		}
	}
	for _, p := range places() {
		if strings.HasSuffix(p.dir, "*") && dir != "." {
			if depth := strings.Count(p.dir, "/") + 1; strings.Count(dir, "/") >= depth {
				if matches(p.dir, strings.Join(strings.Split(dir, "/")[:depth], "/")) {
					return p, true
				}
			}
		}
	}
	return place{}, false
}

func matches(pattern, dir string) bool {
	ok, err := path.Match(pattern, dir)
	return err == nil && ok
}

// allows reports whether a file at p, in directory dir, may import target.
func (p place) allows(dir, target string, test bool) bool {
	if root, _, nested := strings.Cut(p.dir, "*"); nested {
		// Inside one and the same small module everything may be imported.
		own := strings.Join(strings.Split(dir, "/")[:strings.Count(p.dir, "/")+1], "/")
		if strings.HasPrefix(target, root) && under(target, own) {
			return true
		}
	}
	listed := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, target) })
	}
	if dir == target || listed(p.peers) || test && under(target, "internal/assert", "internal/golden") {
		return true
	}
	if p.only != nil {
		return listed(p.only)
	}
	t, known := placeOf(target)
	if !known || p.floor == alone {
		return false
	}
	return t.floor < p.floor || test && t.floor == p.floor
}

// checkFloors holds every import of ours against the places. Tests may also
// import their own floor and internal/assert and internal/golden.
func checkFloors(t *Tree) []string {
	var out []string
	unlisted := map[string]bool{}
	for _, f := range t.Files {
		p, ok := placeOf(f.Dir)
		if !ok {
			unlisted[f.Dir] = true
			continue
		}
		for imported, pos := range f.Imports() {
			target, ours := t.local(imported)
			if ours && !p.allows(f.Dir, target, f.Test) {
				out = append(out, fmt.Sprintf("%s: %s must not import %s", t.at(pos), f.Dir, target))
			}
		}
	}
	for dir := range maps.Keys(unlisted) {
		out = append(out, fmt.Sprintf("%s: package is not listed; give it its floor in internal/archtest/floors.go", dir))
	}
	return out
}

// checkWorld keeps the world out of the floors below the third. The wire
// helper opens the pipes, the golden helper its files; programs that generate
// or calibrate are not linked into anything.
func checkWorld(t *Tree) []string {
	world := []string{"os", "os/exec", "os/signal", "net", "net/http", "syscall", "log", "log/slog", "crypto/rand"}
	var out []string
	for _, f := range t.Files {
		p, ok := placeOf(f.Dir)
		if !ok || p.floor > 2 || p.floor == alone || f.Test || f.Tool || under(f.Dir, "contender/wire", "internal/archtest", "internal/assert", "internal/golden", "tools", "bench") {
			continue
		}
		for imported, pos := range f.Imports() {
			if slices.Contains(world, imported) {
				out = append(out, fmt.Sprintf("%s: %s is pure and must not import %s", t.at(pos), f.Dir, imported))
			}
		}
	}
	return out
}

// checkLight keeps net/http out of what every in-process contender links.
func checkLight(t *Tree) []string {
	var out []string
	for _, f := range t.Files {
		if f.Test || !slices.Contains([]string{".", "contender", "contender/codec", "contender/copier", "contender/wire", "contender/fixture"}, f.Dir) {
			continue
		}
		if pos, ok := f.Imports()["net/http"]; ok {
			out = append(out, fmt.Sprintf("%s: an in-process contender would link net/http", t.at(pos)))
		}
	}
	return out
}
