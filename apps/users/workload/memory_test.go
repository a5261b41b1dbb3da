package workload

import (
	"errors"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/lab"
)

// A store in memory counts with all that keep one at once, the baseline twice and
// the null contender too; users in a database and servers that are not ours do not.
func TestHolds(t *testing.T) {
	k := kind()
	w := workload(opGet, 1_000_000, 10)
	in, err := k.Input(w, "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		who   tare.Contender
		store string
		want  int64
	}{
		{tare.Contender{}, "", 280e6},
		{tare.Contender{}, "memory", 280e6},
		{tare.Contender{}, "linear", 280e6},
		{tare.Contender{Role: tare.RoleNull}, "", 280e6},
		{tare.Contender{}, "sqlite", 0},
		{tare.Contender{}, "postgres", 0},
		{tare.Contender{Start: tare.Start{Launch: tare.LaunchURL}}, "", 0},
		{tare.Contender{Start: tare.Start{Launch: tare.LaunchCommand}}, "", 0},
	} {
		in.Set = map[string]string{"store": c.store}
		if got := k.Holds(c.who, in); got != c.want {
			t.Errorf("%+v over %q holds %d, want %d", c.who, c.store, got, c.want)
		}
	}
}

// More users than there is room for are refused before anything is started.
func TestTooManyUsers(t *testing.T) {
	study := tare.Study{
		ID: "many", Question: "?", Kind: rpc.Kind, Metrics: []string{"cpu"}, Baseline: "good",
		Contenders: []tare.Entry{{ID: "good"}, {ID: "elsewhere", Use: "good", Set: map[string]string{"store": "sqlite"}}},
		Workloads:  []tare.Workload{workload(opGet, 5_000_000, 10)},
	}
	_, err := lab.Run(t.Context(), study, lab.Options{
		Kinds: map[string]lab.Kind{rpc.Kind: kind()}, Sources: sources{}, Dir: t.TempDir(),
		Measuring: lab.Measuring{Rounds: 1, Env: []string{quick}}, Host: lab.Host{Machine: &tare.Machine{Memory: 4e9}},
	})
	var wrong *lab.StudyError
	const want = `study many: workload "get": what its contenders keep at once (n: 5000000) takes about 4200 MB, and 4000 MB of memory are free; choose `
	if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
}
