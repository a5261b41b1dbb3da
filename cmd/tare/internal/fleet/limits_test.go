package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// An order that leaves less of a machine free than its agent keeps, or takes longer
// than the agent works on one, is ended there; another machine takes its rounds.
func TestOrderBeyondLimitsEnds(t *testing.T) {
	for name, c := range map[string]struct {
		l   Limits
		why string
	}{
		"disk":     {Limits{KeepDisk: 100e6}, "20 MB of disk would be free; --keep-disk keeps 100 MB"},
		"memory":   {Limits{KeepMemory: 200e6}, "30 MB of memory are available; --keep-memory keeps 200 MB"},
		"duration": {Limits{Duration: 300 * time.Millisecond}, "takes longer than --most-duration"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, why := c.l, c.why
			h := hub(t, HubOptions{})
			var full atomic.Bool
			l.Commands = true
			piped(t, h, &Agent{
				Limits: l,
				Free: func() Free {
					if full.Load() {
						return Free{Memory: 30e6, Disk: 20e6}
					}
					return Free{Memory: 1e9, Disk: 1e9}
				},
				Study: func(ctx context.Context, _ StudyOrder, task Task) ([]byte, error) {
					if _, err := task.Permit(ctx, 0); err != nil {
						return nil, err
					}
					full.Store(true)
					<-ctx.Done()
					return nil, ctx.Err()
				},
			}, "a")
			piped(t, h, &Agent{Limits: Limits{Commands: true}, Study: func(ctx context.Context, o StudyOrder, task Task) ([]byte, error) {
				for done := 0; ; done++ {
					if more, err := task.Permit(ctx, done); err != nil {
						return nil, err
					} else if !more {
						return json.Marshal(result(o, done))
					}
				}
			}}, "b")
			var said []string
			run := &StudyRun{Hub: h, Dir: t.TempDir(), Machines: []string{"a", "b"}, Share: 3, Study: StudyOrder{Command: "run", ID: "s", Text: study, Seed: 5}, Say: func(name, line string) { said = append(said, name+" "+line) }}
			ctx, cancel := context.WithTimeoutCause(t.Context(), 15*time.Second, errors.New("the order did not end"))
			defer cancel()
			results, err := run.Run(ctx)
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%v; want: %s", err, why)
			}
			rounds := 0
			for _, r := range results {
				rounds += r.Result.RoundsDone
			}
			if rounds != 6 {
				t.Errorf("%d rounds of 6; said:\n%s", rounds, strings.Join(said, "\n"))
			}
		})
	}
}

// TestTargets: only loopback, and what an agent was told, may be loaded. A name that
// ends in an allowed one is another's.
func TestTargets(t *testing.T) {
	l := Limits{Targets: []string{"shop.example", "api.example:443", "*.test:80", "192.0.2.1"}}
	for addr, want := range map[string]bool{
		"127.0.0.1:80": true, "[::1]:80": true, "localhost:80": true,
		"shop.example:80": true, "shop.example:443": true, "192.0.2.1:80": true,
		"evilshop.example:80": false, "my.shop.example:80": false, "shop.example.evil.test:443": false, "example:80": false,
		"api.example:443": true, "api.example:80": false, "evilapi.example:443": false, "my.api.example:443": false,
		"a.test:80": true, "a.test:81": false, "test:80": false,
		"notlocalhost:80": false, "10.127.0.0.1:80": false, "1192.0.2.1:80": false, "shop.example": false,
	} {
		if got := l.canTarget(addr); got != want {
			t.Errorf("%s may be loaded: %v, want %v", addr, got, want)
		}
	}
}

// What an order brings is counted before any of it is sent.
func TestOrderThatFillsTheDisk(t *testing.T) {
	o := Order{Study: &StudyOrder{Files: []File{{Size: 60e6}}, Packs: []File{{Size: 50e6}}}}
	l := Limits{KeepDisk: 100e6}
	if err := l.checkFree(Free{Memory: -1, Disk: 211e6}, o.fileBytes()); err != nil {
		t.Error(err)
	}
	if err := l.checkFree(Free{Memory: -1, Disk: 209e6}, o.fileBytes()); err == nil || !strings.Contains(err.Error(), "--keep-disk") {
		t.Errorf("110 MB for 109: %v", err)
	}
	if err := l.checkFree(Free{-1, -1}, o.fileBytes()); err != nil {
		t.Errorf("where nothing is known: %v", err)
	}
}
