package workload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/users"
)

// Stores that break once they have taken so many calls: the address says how.
const (
	storeFull    = "postgres:full"    // nothing can be written any more
	storeRestart = "postgres:restart" // now and then nothing can be done for a while, then all is as before
	storeOnce    = "postgres:once?"   // it stays away, for one process of all that are told this file; it is made then
	storeKilled  = "postgres:killed?" // it takes its process with it, once in the same way
)

// while is how many calls a store that restarts refuses.
const while = 20

var (
	errFull = errors.New("no space left on device")
	errAway = errors.New("the server is shutting down")
)

// broken is a store in memory that breaks.
type broken struct {
	users.Repository
	how, file string
	calls     atomic.Int64
	away      atomic.Int64 // calls that are still to be refused
}

// brittle opens one of them.
func brittle(ctx context.Context, store string, n int) (users.Repository, error) {
	store = strings.TrimPrefix(store, users.Temporary)
	b := &broken{how: store}
	for _, once := range []string{storeOnce, storeKilled} {
		if file, ok := strings.CutPrefix(store, once); ok {
			b.how, b.file = once, file
		}
	}
	switch b.how {
	case storeFull, storeRestart, storeOnce, storeKilled:
	default:
		return nil, fmt.Errorf("%w as %q", users.ErrNoStore, store)
	}
	m, err := users.Open(ctx, users.MemoryStore, n)
	b.Repository = m
	return b, err
}

// fails is what a call comes to; nil: it is the store's.
func (b *broken) fails() error {
	n := b.calls.Add(1)
	switch {
	case b.how == storeFull && n > turning:
		return errFull
	case b.how == storeRestart && n%turning == 0, b.file != "" && n == turning && b.first():
		if b.how == storeKilled {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			time.Sleep(time.Hour)
		}
		b.away.Store(while)
		if b.how == storeOnce {
			b.away.Store(1 << 40)
		}
	}
	if b.away.Add(-1) >= 0 {
		return errAway
	}
	return nil
}

// first reports whether this is the first process to get here, besides the one of
// the pilot, which takes as many calls as a round does.
func (b *broken) first() bool {
	for _, name := range []string{b.file + ".pilot", b.file} {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			f.Close()
			return name == b.file
		}
	}
	return false
}

func (b *broken) Create(ctx context.Context, d users.Draft, at time.Time) (users.User, error) {
	if err := b.fails(); err != nil {
		return users.User{}, err
	}
	return b.Repository.Create(ctx, d, at)
}

func (b *broken) Reset(ctx context.Context, n int) error {
	if b.how == storeFull && b.calls.Load() > turning {
		return errFull
	}
	return b.Repository.Reset(ctx, n)
}

// creating is a study of creates, by entries over stores.
func creating(stores map[string]string) tare.Study {
	s := tare.Study{
		ID: "stores", Baseline: "good", Contenders: []tare.Entry{{ID: "good"}},
		Workloads: []tare.Workload{{ID: "create", Fixture: users.Name, Op: opCreate, N: 200, Traffic: &tare.Traffic{Connections: 6}}}, // more than turning requests a round
	}
	for id, store := range stores {
		s.Contenders = append(s.Contenders, tare.Entry{ID: id, Use: "good", Set: map[string]string{"store": store}})
	}
	return s
}

// failures are the findings of trials and timed operations that failed, by contender and severity.
func failures(r *tare.Result) map[string]string {
	said := map[string]string{}
	for _, f := range r.Findings {
		if f.Check == "trial" || f.Check == "error-in-loop" {
			said[f.Contender] += fmt.Sprintf("%s by %s: %s\n", f.Severity, f.Check, f.Message)
		}
	}
	return said
}

// A store that breaks in every round voids what is measured over it, with the
// reason; the rest of the study goes on.
func TestStoreThatBreaks(t *testing.T) {
	if testing.Short() {
		t.Skip("starts 15 servers")
	}
	t.Parallel()
	r := weigh(t, creating(map[string]string{"full": storeFull, "restart": storeRestart}), 2)
	said := failures(r)
	for id, want := range map[string]string{
		"full":    "void by trial: gave up in ",
		"restart": "void by error-in-loop: ",
	} {
		if !strings.Contains(said[id], want) {
			t.Errorf("%s: %q, want %q", id, said[id], want)
		}
	}
	if s := said["full"]; !strings.Contains(s, errFull.Error()) {
		t.Errorf("full: %q does not say so", s)
	}
	whole := 0
	for _, tr := range r.Trials {
		if tr.Contender == "good" && tr.Counts("create") && tr.Samples["create"][tare.KeyErrors] == 0 {
			whole++
		}
	}
	if r.RoundsDone != 2 || whole != 2 || said["good"] != "" {
		t.Errorf("%d rounds of 2, %d of them without fault: %q", r.RoundsDone, whole, said["good"])
	}
}

// One that breaks once voids that round, and the others count.
func TestStoreThatBreaksOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("starts 25 servers")
	}
	t.Parallel()
	const rounds = 4
	dir := t.TempDir()
	r := weigh(t, creating(map[string]string{"once": storeOnce + filepath.Join(dir, "once"), "killed": storeKilled + filepath.Join(dir, "killed")}), rounds)
	said := failures(r)
	for id, want := range map[string]string{
		"once":   "warn by error-in-loop: 1 of 4 rounds is void: in round ",
		"killed": "warn by trial: 1 of 4 rounds is void: died in round ",
	} {
		if !strings.HasPrefix(said[id], want) {
			t.Errorf("%s: %q, want %q", id, said[id], want)
		}
	}
	for _, e := range r.Rounds {
		if e.Metric != "cpu" || e.B != "good" {
			continue
		}
		want := rounds
		if e.A == "once" || e.A == "killed" {
			want--
		}
		if len(e.Effects) != want {
			t.Errorf("%d effects of %s, want %d", len(e.Effects), e.A, want)
		}
	}
	if r.RoundsDone != rounds || said["good"] != "" {
		t.Errorf("%d rounds of %d: %q", r.RoundsDone, rounds, said["good"])
	}
}
