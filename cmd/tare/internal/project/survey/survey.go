// Package survey reads a repository without running its code. It drafts a first tare.yaml, the file
// with the settings of a repository for tare. It finds benchmarks, modules, CI systems, and files that
// measurements can use.
package survey

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/atomicfile"
)

// Survey is the result of a survey. Paths are relative to Dir, with slashes.
type Survey struct {
	Dir        string      `json:"dir"`       // directory that was surveyed
	Workspace  bool        `json:"workspace"` // Dir has a go.work
	Modules    []Module    `json:"modules"`
	Benchmarks []Benchmark `json:"benchmarks"`
	CI         []string    `json:"ci"`      // GitHub Actions, GitLab CI, …
	Branch     string      `json:"branch"`  // default branch of the remote, e.g. origin/main; "" if unknown
	Studies    []string    `json:"studies"` // files that describe studies, measurements of tare
	JSON       []Fixture   `json:"json"`    // the largest JSON documents for tests, at most maxJSON
	Routes     []string    `json:"routes"`  // OpenAPI documents
	Servers    []string    `json:"servers"` // directories of main packages that listen on a port
	Partial    bool        `json:"partial"` // there are more than maxEntries files; the rest was not read
}

// Module is a Go module in the repository.
type Module struct {
	Dir  string `json:"dir"` // . for the top
	Path string `json:"path"`
}

// Fixture is a JSON document in a directory for tests.
type Fixture struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Limits of a survey.
const (
	maxEntries = 200_000 // files and directories
	maxSource  = 1 << 20 // bytes of a source file or YAML file
	maxModFile = 1 << 20 // bytes of a go.mod
	minJSON    = 256     // least bytes of a Fixture
	maxJSON    = 5       // number of Fixtures
	maxListed  = 5       // number of OpenAPI documents, and of servers
)

// Look surveys dir, a directory of a repository, and everything below it. root is the top of the
// repository, with the files of CI systems. Look skips unreadable and invalid files.
func Look(dir, root string) (Survey, error) {
	s := Survey{
		Dir:    dir,
		CI:     findCI(root),
		Branch: defaultBranch(root),
		// empty arrays in JSON, not null
		Modules:    []Module{},
		Benchmarks: []Benchmark{},
		Studies:    []string{},
		JSON:       []Fixture{},
		Routes:     []string{},
		Servers:    []string{},
	}
	_, err := os.Stat(filepath.Join(dir, "go.work"))
	s.Workspace = err == nil
	entries := 0
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			if file == dir {
				return err
			}
			return nil // skip unreadable entries
		}
		if entries++; entries > maxEntries {
			s.Partial = true
			return fs.SkipAll
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir() && rel != "." && isSkipped(d.Name()):
			return fs.SkipDir
		case d.Type().IsRegular():
			s.addFile(rel, d)
		}
		return nil
	})
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err // the caller knows the path
		}
		return s, err
	}
	s.finishLists()
	return s, nil
}

// isSkipped reports whether a directory is hidden or has dependencies, by its name.
func isSkipped(name string) bool {
	return strings.HasPrefix(name, ".") || name == "vendor" || name == "node_modules"
}

func (s *Survey) addFile(rel string, d fs.DirEntry) {
	isYAML := strings.HasSuffix(rel, ".yaml") || strings.HasSuffix(rel, ".yml")
	switch name := d.Name(); {
	case name == "go.mod" && !inTestdata(rel):
		if p := ModulePath(s.readFile(rel, maxModFile)); p != "" {
			s.Modules = append(s.Modules, Module{path.Dir(rel), p})
		}
	case strings.HasSuffix(name, "_test.go") && name[0] != '_' && !inTestdata(rel):
		s.Benchmarks = append(s.Benchmarks, findBenchmarks(s.Dir, rel, s.readFile(rel, maxSource))...)
	case strings.HasSuffix(name, ".go") && !inTestdata(rel) && mayServe(rel) && len(s.Servers) < maxListed:
		if dir := path.Dir(rel); isServer(s.readFile(rel, maxSource)) && !slices.Contains(s.Servers, dir) {
			s.Servers = append(s.Servers, dir)
		}
	case strings.HasSuffix(name, ".json") && isOpenAPI(name, nil):
		if !inTestdata(rel) && len(s.Routes) < maxListed {
			s.Routes = append(s.Routes, rel)
		}
	case strings.HasSuffix(name, ".json") && isFixture(rel):
		if info, err := d.Info(); err == nil && info.Size() >= minJSON {
			s.JSON = append(s.JSON, Fixture{rel, info.Size()})
		}
	case isYAML && !inTestdata(rel):
		switch src := s.readFile(rel, maxSource); {
		case isStudy(src):
			s.Studies = append(s.Studies, rel)
		case isOpenAPI(name, src) && len(s.Routes) < maxListed:
			s.Routes = append(s.Routes, rel)
		}
	}
}

// readFile returns the text of a file, or nil if it is unreadable or has more than limit bytes.
func (s *Survey) readFile(rel string, limit int64) []byte {
	src, err := atomicfile.ReadFile(filepath.Join(s.Dir, filepath.FromSlash(rel)), limit)
	if err != nil {
		return nil
	}
	return src
}

// finishLists sets the import paths of benchmarks, once all modules are known, and drops those without
// one.
func (s *Survey) finishLists() {
	slices.SortFunc(s.Modules, func(a, b Module) int { return cmp.Compare(a.Dir, b.Dir) })
	for i := range s.Benchmarks {
		s.Benchmarks[i].Package = s.importPath(path.Dir(s.Benchmarks[i].File))
	}
	s.Benchmarks = slices.DeleteFunc(s.Benchmarks, func(b Benchmark) bool { return b.Package == "" })
	slices.SortFunc(s.Benchmarks, func(a, b Benchmark) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	slices.SortFunc(s.JSON, func(a, b Fixture) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Path, b.Path)) })
	s.JSON = s.JSON[:min(len(s.JSON), maxJSON)]
}

func (s *Survey) importPath(dir string) string {
	m := s.moduleOf(dir)
	if m.Path == "" {
		return ""
	}
	rest := dir
	if m.Dir != "." {
		rest = strings.TrimPrefix(dir, m.Dir)
	}
	return path.Join(m.Path, rest)
}

func (s Survey) moduleOf(dir string) Module {
	for current := dir; ; current = path.Dir(current) {
		for _, m := range s.Modules {
			if m.Dir == current {
				return m
			}
		}
		if current == "." {
			return Module{}
		}
	}
}

// inTestdata reports whether the go command ignores the directory of a file.
func inTestdata(rel string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(rel), "/"), func(dir string) bool {
		return dir == "testdata" || strings.HasPrefix(dir, "_")
	})
}

// isFixture reports whether a document is in a common directory of tests.
func isFixture(rel string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(rel), "/"), func(dir string) bool {
		switch dir {
		case "testdata", "fixtures", "fixture", "samples", "examples":
			return true
		}
		return false
	})
}
