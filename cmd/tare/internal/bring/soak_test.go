package bring

import (
	"os"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/bring/tree"
)

// No benchmark whose machine code a commit changes is left out by what changed
// reaches. TARE_SOAK_REPO is a clone of a module with benchmarks; its last twenty
// commits, or those of TARE_SOAK_RANGE (base..head), are looked at.
func TestChangedLeavesNothingOut(t *testing.T) {
	dir := os.Getenv("TARE_SOAK_REPO")
	if dir == "" {
		t.Skip("TARE_SOAK_REPO names no clone")
	}
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	repo, err := tree.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	from, to, ok := strings.Cut(os.Getenv("TARE_SOAK_RANGE"), "..")
	if !ok {
		from, to = "HEAD~20", "HEAD"
	}
	var ends [2]tree.Revision
	for i, name := range []string{from, to} {
		if ends[i], err = repo.Resolve(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	commits, err := repo.Between(t.Context(), ends[0], ends[1], true)
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	all, kept, differ := 0, 0, 0
	for _, c := range commits[:min(20, len(commits))] {
		asked := Asked{Dir: dir, Base: c.Parents[0], Head: c.ID, OneBuild: true}
		b, err := NewBench(t.Context(), asked, Place{Cache: cache, Say: func(string) {}})
		if err != nil {
			t.Logf("%.9s %s: %v", c.ID, c.Subject, err)
			continue
		}
		same := map[string]bool{}
		for _, f := range b.findings {
			same[f.Workload] = same[f.Workload] || f.Check == SameCode().ID
		}
		s, err := find(t.Context(), asked, cache)
		if err != nil {
			t.Fatal(err)
		}
		packages, err := s.head.List(t.Context(), []string{"./..."})
		if err != nil {
			t.Fatal(err)
		}
		if _, besides, err := s.reached(t.Context(), packages); err != nil || besides != nil {
			t.Errorf("%.9s: %v, %v", c.ID, err, besides)
		}
		for _, w := range b.Study.Workloads {
			name, _, _ := strings.Cut(w.Op, "/")
			top := w.Fixture + "." + name
			all++
			reached := s.reach.Benchmark(top)
			if reached {
				kept++
			}
			if !same[w.ID] {
				differ++
				if !reached {
					t.Errorf("%.9s %s: %s has other code and is left out", c.ID, c.Subject, w.ID)
				}
			}
		}
		b.Close()
	}
	t.Logf("%d commits: %d benchmarks, %d with other code, %d kept", len(commits), all, differ, kept)
}
