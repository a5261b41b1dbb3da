package survey

import (
	"fmt"
	"go/build"
	"go/build/constraint"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/tarebench/tare/internal/format"
)

// SchemaURL is the address of the schema of tare.yaml, for editors.
const SchemaURL = "https://raw.githubusercontent.com/tarebench/tare/main/docs/schema/project.schema.json"

const (
	maxPackages = 8 // packages in the comment about benchmarks
	maxNames    = 3 // benchmarks of each package there
)

// Draft returns a tare.yaml for the repository, with comments about the findings of the survey and the
// possible settings.
func (s Survey) Draft() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `# yaml-language-server: $schema=%s
#
# What tare measures in this repository, and what a change must hold to pass
# tare gate. Every key may be left out; docs/gate.md of tare explains them.

`, SchemaURL)
	s.draftBench(&b)
	s.draftStudies(&b)
	s.draftGate(&b)
	b.WriteString(`
# Temporarily accepted regressions. Each needs a last day and a reason.
# accept:
#   - benchmark: 'BenchmarkEncode/large'   # matched against import/path.BenchmarkName/sub
#     metric: time                         # or allocs; left out: any
#     until: 2030-12-31
#     reason: one line for the reader of the gate
`)
	return []byte(b.String())
}

func (s Survey) draftBench(b *strings.Builder) {
	packages := s.groupByPackage()
	if len(packages) == 0 {
		b.WriteString("# No benchmarks were found. A gate runs functions of test files like\n#   func BenchmarkEncode(b *testing.B) { for b.Loop() { … } }\n")
	} else {
		fmt.Fprintf(b, "# Found: %s.\n", s.Count())
		for i, p := range packages {
			if i == maxPackages {
				fmt.Fprintf(b, "#   and %s more\n", format.Count(len(packages)-i, "package"))
				break
			}
			names := p.names[:min(len(p.names), maxNames)]
			more := ""
			if rest := len(p.names) - len(names); rest > 0 {
				more = fmt.Sprintf(", and %d more", rest)
			}
			fmt.Fprintf(b, "#   %s: %s%s\n", safeComment(p.path), strings.Join(names, ", "), more)
		}
	}
	b.WriteString("bench:\n")
	fmt.Fprintf(b, "  packages: [%s]        # as go list takes them\n", strings.Join(s.packagePatterns(), ", "))
	b.WriteString("  # run: Encode|Decode     # only these, as go test -bench takes it\n")
	if tags := s.missingTags(); len(tags) > 0 {
		for _, n := range s.Benchmarks {
			if n.Needs != "" {
				fmt.Fprintf(b, "  # %s of %s is left out here; it needs %s:\n", n.Name, safeComment(n.File), safeComment(n.Needs))
				break
			}
		}
		fmt.Fprintf(b, "  # tags: [%s]\n", strings.Join(tags, ", "))
	} else {
		b.WriteString("  # tags: [integration]    # build tags\n")
	}
	b.WriteString(`  # env: [GOGC=200]        # environment of the benchmarks
  # budget: 90s            # measuring time of the benchmarks
  # max: 10m               # the longest it may take; what does not fit is named
`)
}

// draftStudies writes keys as comments that the user can enable, with the found files.
func (s Survey) draftStudies(b *strings.Builder) {
	b.WriteString("\n# Besides benchmarks a gate measures, base against head:\n# Studies: contenders that are programs of this repository, or whose modules a\n# change moves to other versions in go.mod.\n")
	s.writeOffer(b, "studies", s.Studies, "bench/encode.yaml")
	var documents []string
	for _, f := range s.JSON {
		documents = append(documents, f.Path)
	}
	b.WriteString("# JSON codecs that a change moves, on these documents; tare json FILE compares all.\n")
	s.writeOffer(b, "json", documents, "testdata/order.json")
	b.WriteString("# Routers that a change moves, on these routes; tare routes FILE compares all.\n")
	s.writeOffer(b, "routes", s.Routes, "api/openapi.yaml")
	b.WriteString("# Servers, under load:\n")
	program, name := "cmd/api", ""
	if servers := onlyPlain(s.Servers); len(servers) > 0 {
		fmt.Fprintf(b, "# found: %s\n", strings.Join(servers, ", "))
		program = servers[0]
	}
	if program == "." {
		name = "\n#     id: server"
	}
	fmt.Fprintf(b, `# load:
#   - program: %s%s
#     args: [-addr, '127.0.0.1:$PORT']
#     mix: [GET /health=1]       # METHOD PATH=WEIGHT; or feed: FILE
#     # rate: 500/s              # sent whatever comes back; left out: as fast as answers come
#     # slo: p50<5ms,p99<50ms    # limits of the head at that rate
`, program, name)
}

// writeOffer writes a key as a comment, with a found file or an example.
func (s Survey) writeOffer(b *strings.Builder, key string, found []string, example string) {
	found = onlyPlain(found)
	if len(found) > 0 {
		fmt.Fprintf(b, "# found: %s\n", strings.Join(found, ", "))
		example = found[0]
	}
	fmt.Fprintf(b, "# %s: [%s]\n", key, example)
}

func onlyPlain(names []string) []string {
	var out []string
	for _, name := range names {
		if isPlain(name) {
			out = append(out, name)
		}
	}
	return out
}

func (s Survey) draftGate(b *strings.Builder) {
	base := "merge-base"
	if s.Branch != "" {
		base += " " + s.Branch
	}
	fmt.Fprintf(b, `
gate:
  # Where the head left that branch; or a revision, e.g. v1.2.0.
  base: %s
  margin: 5%%               # the slowdown that matters: less may pass, more may not
  allocs: exact            # one more allocation per operation is too many; or margin, ignore
  on_inconclusive: warn    # what the machine could not tell: pass, warn or fail
  # metrics: [time]        # held to the margin: time, bytes
  # instructions: 2%%       # more work than this blocks, where it can be counted (apt-get install valgrind)
  # alpha: 5%%              # the family-wise error rate of the table
`, base)
}

// Count describes the number of benchmarks: "24 benchmarks in 3 packages".
func (s Survey) Count() string {
	if len(s.Benchmarks) == 0 {
		return "no benchmarks"
	}
	return fmt.Sprintf("%s in %s", format.Count(len(s.Benchmarks), "benchmark"), format.Count(len(s.groupByPackage()), "package"))
}

type packageBenchmarks struct {
	path  string // import path
	names []string
}

// groupByPackage returns the packages with benchmarks. s.Benchmarks must be sorted by package.
func (s Survey) groupByPackage() []packageBenchmarks {
	var out []packageBenchmarks
	for _, n := range s.Benchmarks {
		if len(out) == 0 || out[len(out)-1].path != n.Package {
			out = append(out, packageBenchmarks{path: n.Package})
		}
		last := &out[len(out)-1]
		last.names = append(last.names, n.Name)
	}
	return out
}

// packagePatterns returns all packages, or in a workspace those of modules with benchmarks.
func (s Survey) packagePatterns() []string {
	if !s.Workspace {
		return []string{"./..."}
	}
	var out []string
	for _, n := range s.Benchmarks {
		pattern := "./..."
		if dir := s.moduleOf(path.Dir(n.File)).Dir; dir != "." {
			pattern = "./" + dir + "/..."
		}
		if isPlain(pattern) && !slices.Contains(out, pattern) {
			out = append(out, pattern)
		}
	}
	if len(out) == 0 {
		return []string{"./..."}
	}
	slices.Sort(out)
	return out
}

// missingTags returns the build tags that alone would add benchmarks.
func (s Survey) missingTags() []string {
	var out []string
	for _, n := range s.Benchmarks {
		x, err := constraint.Parse("//go:build " + n.Needs)
		if n.Needs == "" || err != nil {
			continue
		}
		if tag, ok := x.(*constraint.TagExpr); ok && isPlain(tag.Tag) && isUserTag(tag.Tag) && !slices.Contains(out, tag.Tag) {
			out = append(out, tag.Tag)
		}
	}
	slices.Sort(out)
	return out
}

// isUserTag reports whether users set a tag. By convention no build sets ignore.
func isUserTag(tag string) bool {
	isReserved := slices.Contains([]string{"ignore", "unix", "cgo", "gc", "gccgo", "race", "msan", "asan", "boringcrypto"}, tag)
	if isReserved || constraint.GoVersion(&constraint.TagExpr{Tag: tag}) != "" {
		return false
	}
	// go/build knows the names of all platforms: for platform none it excludes p_windows.go, for
	// example.
	c := build.Context{GOOS: "none", GOARCH: "none", Compiler: "gc", OpenFile: func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("package p\n")), nil
	}}
	isIncluded, err := c.MatchFile("", "p_"+strings.ReplaceAll(tag, "_", "-")+".go")
	return err == nil && isIncluded
}

func isPlain(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-/", r)
	})
}

// safeComment replaces what cannot be printed, such as line feeds, which would end a comment.
func safeComment(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, name)
}
