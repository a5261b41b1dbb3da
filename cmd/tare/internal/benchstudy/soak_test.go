package benchstudy

import (
	"os"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/kinds/gobench"
)

// What --changed leaves out is compared with machine code, commit by commit. None
// that is left out may call code that differs. One whose binary has other code that
// it can call indirectly at most is listed, to be looked at: any method counts. TARE_SOAK_REPO is a clone of a module with benchmarks;
// its last twenty commits, or those of TARE_SOAK_RANGE (base..head), are looked at.
func TestChangedLeavesNothingOut(t *testing.T) {
	dir := os.Getenv("TARE_SOAK_REPO")
	if dir == "" {
		t.Skip("TARE_SOAK_REPO names no clone")
	}
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	repo, err := gitrev.Find(t.Context(), dir)
	assert.NoError(t, "find", err)
	from, to, ok := strings.Cut(os.Getenv("TARE_SOAK_RANGE"), "..")
	if !ok {
		from, to = "HEAD~20", "HEAD"
	}
	var ends [2]gitrev.Revision
	for i, name := range []string{from, to} {
		if ends[i], err = repo.Resolve(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	commits, err := repo.Between(t.Context(), ends[0], ends[1], true)
	assert.NoError(t, "between", err)
	cache := t.TempDir()
	all, kept, differ, called, unknown := 0, 0, 0, 0, 0
	for _, c := range commits[:min(20, len(commits))] {
		s, err := findSides(t.Context(), Request{Dir: dir, Base: c.Parents[0], Head: c.ID}, cache)
		assert.NoError(t, "find sides", err)
		b := &Bench{workDir: t.TempDir()}
		for _, side := range []*suite.Side{s.base, s.head} {
			assert.NoError(t, "resolve", side.Resolve(t.Context(), b.workDir))
		}
		_, _ = b.listTests(t.Context(), Request{Changed: true}, s, nil) // an error says that nothing is reached
		if s.reach == nil {
			t.Fatalf("%.9s: what changed was not read", c.ID)
		}
		tests, err := b.listTests(t.Context(), Request{}, s, nil)
		assert.NoError(t, "list tests", err)
		packages := map[string]map[string]gobench.Package{}
		for _, side := range []*suite.Side{s.base, s.head} {
			built, err := suite.Build(t.Context(), side, tests[side.ID], ".", b.workDir, func(string) {})
			if err != nil {
				t.Fatalf("%.9s: %v", c.ID, err)
			}
			packages[side.ID] = built.Packages
		}
		for _, of := range tests[Head] {
			for _, file := range of.TestFiles {
				key := of.Key(file)
				d, err := compareCode(packages[Base][key], packages[Head][key])
				for _, name := range file.Names {
					id := suite.Benchmark{Package: key, Name: name}.ID()
					all++
					reached := s.reach.ReachesBenchmark(id)
					if reached {
						kept++
					}
					switch {
					case err != nil:
						unknown++
					case !d.IsSame(key, name):
						differ++
						_, callsDifferent := d.Distance(key, name)
						switch {
						case !reached && callsDifferent:
							t.Errorf("%.9s %s: %s is left out, and calls code that differs", c.ID, c.Subject, id)
						case !reached:
							called++
							t.Logf("%.9s %s: %s is left out, and its binary has other code", c.ID, c.Subject, id)
						}
					}
				}
			}
		}
		t.Logf("%.9s: so far %d benchmarks, %d with other code, %d kept, %d left out with other code that they do not call themselves, %d not known; %s", c.ID, all, differ, kept, called, unknown, c.Subject)
	}
}
