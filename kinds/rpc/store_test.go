package rpc

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/app/users"
)

// Stores that break once they have taken so many calls: the file's name says how.
const (
	storeFull    = "sqlite:full"    // nothing can be written any more
	storeRestart = "sqlite:restart" // now and then nothing can be done for a while, then all is as before
)

var errFull = errors.New("no space left on device")

// broken is a store in memory that breaks.
type broken struct {
	users.Repository
	how   string
	calls atomic.Int64
}

// brittle opens one of them.
func brittle(ctx context.Context, store string, n int) (users.Repository, error) {
	how := "sqlite:" + filepath.Base(strings.TrimPrefix(store, "sqlite:"))
	switch how {
	case storeFull, storeRestart:
	default:
		return nil, fmt.Errorf("%w as %q", users.ErrNoStore, store)
	}
	m, err := users.Open(ctx, users.MemoryStore, n)
	return &broken{Repository: m, how: how}, err
}

// fails is what a call comes to; nil: it is the store's.
func (b *broken) fails() error {
	const while = 20 // calls
	n := b.calls.Add(1)
	switch {
	case b.how == storeRestart && n%turning > turning-while:
		return errors.New("the server is shutting down")
	case b.how == storeFull && n > turning:
		return errFull
	}
	return nil
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

// A store that breaks in the middle of a round voids what is measured over it, with
// the reason; the rest of the study goes on.
func TestStoreThatBreaks(t *testing.T) {
	t.Parallel()
	over := func(id, store string) tare.Entry {
		return tare.Entry{ID: id, Use: "good", Set: map[string]string{"store": store}}
	}
	r := weigh(t, tare.Study{
		ID: "stores", Baseline: "good",
		Contenders: []tare.Entry{{ID: "good"}, over("full", storeFull), over("restart", storeRestart)},
		Workloads:  []tare.Workload{{ID: "create", Fixture: app, Op: opCreate, N: 200, Traffic: &tare.Traffic{Connections: 20}}},
	}, 2)
	said := map[string]string{}
	for _, f := range r.Findings {
		if f.Severity == tare.Void {
			said[f.Contender] += f.Check + ": " + f.Message + "\n"
		}
	}
	for id, want := range map[string]string{
		"full":    "trial: gave up in ",
		"restart": "error-in-loop: ",
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
		if tr.Contender == "good" && tr.Error == nil && tr.Samples["create"][tare.KeyErrors] == 0 {
			whole++
		}
	}
	if r.RoundsDone != 2 || whole != 2 || strings.Contains(said["good"], "trial") || strings.Contains(said["good"], "error-in-loop") {
		t.Errorf("%d rounds of 2, %d of them without fault: %q", r.RoundsDone, whole, said["good"])
	}
}
