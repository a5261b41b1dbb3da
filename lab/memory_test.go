package lab_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// keeper is a kind whose contenders keep n MB of a workload in memory, but for
// those whose set says otherwise. It opens nobody where refused is what is to come.
type keeper struct {
	lab.Kind
	opened *int
}

func (k keeper) Holds(_ tare.Contender, w wire.Workload) int64 {
	if w.Set["store"] == "elsewhere" {
		return 0
	}
	return int64(w.N) * 1e6
}

func (k keeper) Open(ctx context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	*k.opened++
	return k.Kind.Open(ctx, p, spec)
}

// What the contenders keep at once has to fit before anything is started. Base,
// its control, lean, the trap and null keep 100 MB each of w; of far only lean is
// asked, besides base, its control and null.
func TestMemoryThatIsNotThere(t *testing.T) {
	for name, c := range map[string]struct {
		free      int64
		isolation tare.Isolation
		elsewhere bool
		refused   string
	}{
		"not known":               {0, "", false, ""},
		"enough":                  {1300e6, "", false, ""},
		"too little":              {1299e6, "", false, `study scripted: workload "far": what its contenders keep at once (n: 300) takes about 1200 MB, 1300 MB with what others keep of other workloads, and 1299 MB of memory are free; choose --isolation trial, or fewer by --contender or --workload, or a smaller n`},
		"one keeps nothing":       {1299e6, "", true, ""},
		"one at a time":           {300e6, tare.TrialWise, false, ""},
		"more than a process may": {0, "", false, ""},
		"not even one":            {299e6, tare.TrialWise, false, `takes about 300 MB, and 299 MB of memory are free; choose fewer by`},
	} {
		t.Run(name, func(t *testing.T) {
			s := study()
			s.Workloads[0].N = 100
			s.Workloads = append(s.Workloads, tare.Workload{ID: "far", Fixture: "x", Op: "marshal", N: 300, Contenders: []string{"lean"}})
			s.Criteria = nil
			if name == "more than a process may" {
				s.Workloads[1].N = 2148
				c.refused = `study scripted: workload "far": what base keeps (n: 2148) takes about 2148 MB, and a process may hold 2147 MB; choose a smaller n`
			}
			if c.elsewhere {
				s.Contenders[1] = tare.Entry{ID: "lean", Set: map[string]string{"store": "elsewhere"}}
			}
			o := options(t, script())
			opened := 0
			o.Kinds["codec"] = keeper{o.Kinds["codec"], &opened}
			o.Machine.Memory, o.Isolation, o.Rounds, o.Quick = c.free, c.isolation, 1, false
			_, err := lab.Run(context.Background(), s, o)
			var wrong *lab.StudyError
			switch {
			case c.refused == "" && errors.As(err, &wrong):
				t.Errorf("refused: %v", err)
			case c.refused != "" && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), c.refused) || opened > 0):
				t.Errorf("got %v and %d processes, want %s", err, opened, c.refused)
			case c.refused == "" && opened == 0:
				t.Error("nobody was asked")
			}
		})
	}
}
