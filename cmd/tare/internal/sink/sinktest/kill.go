package sinktest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/ingest/spool"
	"github.com/tarebench/tare/cmd/tare/internal/sink"
)

// Environment variables of a test's own program that becomes a service: it writes events to a spool
// and sends them until it is killed.
const (
	envDir = "TARE_TEST_SPOOL"
	envURL = "TARE_TEST_SINK"
)

// Main runs the tests of packages that call Killed, or the service of their sink. It
// returns the exit code.
func Main(m *testing.M, kinds ...sink.Kind) int {
	if dir := os.Getenv(envDir); dir != "" {
		if err := runService(dir, os.Getenv(envURL), kinds); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	return m.Run()
}

// runService stores events of four callers, and prints the ids before it tries and after they were
// acknowledged. It ends when its input does, and sends all.
func runService(dir, url string, kinds sink.Kinds) error {
	list, err := kinds.Parse(url)
	if err != nil {
		return err
	}
	one, err := list[0].Open(sink.Settings{Now: time.Now})
	if err != nil {
		return err
	}
	sp, _, err := spool.Open(dir, spool.Options{Now: time.Now, Segment: 64 << 10, Bytes: killSpool})
	if err != nil {
		return err
	}
	service, err := sink.Start(sink.Config{
		Dir: dir, Dead: 1 << 20, Poll: time.Millisecond, Now: time.Now,
		Sinks:   []sink.Named{{Name: "it", Limits: sink.Limits{Events: killBatch, Bytes: 1 << 20, Age: 5 * time.Millisecond}, Sink: one.Sink}},
		Backoff: sink.Backoff{First: 5 * time.Millisecond, Last: 50 * time.Millisecond},
		Log:     slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	var callers sync.WaitGroup
	var mu sync.Mutex
	print := func(what string, ids []string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(os.Stdout, "%s %s\n", what, strings.Join(ids, " "))
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	life := time.Now().UnixNano()
	for caller := range 4 {
		callers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-ended:
					return
				default:
				}
				var ids []string
				var lines []byte
				for k := range 10 {
					id := fmt.Sprintf("%d-%d-%d-%d", life, caller, i, k)
					ids = append(ids, id)
					lines = append(append(lines, Line(id)...), '\n')
				}
				print("try", ids)
				if sp.Keep(context.Background(), lines, 10) == nil {
					print("ok", ids)
				}
				time.Sleep(500 * time.Microsecond)
			}
		})
	}
	callers.Wait()
	if err := sp.Close(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // a destination may be slow
	defer cancel()
	left, err := service.Stop(ctx)
	if err == nil && left > 0 {
		err = fmt.Errorf("%d events are left", left)
	}
	return err
}

const (
	killBatch  = 200
	killEvents = 1000 // acknowledged ones in a life, more or less

	// killSpool is small: events that wait for a destination that takes seconds to start are sent
	// in seconds too.
	killSpool = 4 << 20
)

// Kills counts the kills of the service, and those of the destination.
type Kills struct{ Service, Far int }

// Soak reports whether tests run completely, however long they take.
func Soak() bool { return os.Getenv("TARE_SOAK") != "" }

// DefaultKills returns a tenth of the kills with TARE_SOAK.
func DefaultKills() Kills {
	if Soak() {
		return Kills{100, 50}
	}
	return Kills{10, 5}
}

// RealKills has fewer kills of the destination unless TARE_SOAK is set: a real one takes seconds to
// start.
func RealKills() Kills {
	k := DefaultKills()
	if !Soak() {
		k.Far = 1
	}
	return k
}

// Killed kills a service, the test's own program, that sends to a URL, and its destination, again
// and again under load. All acknowledged events must arrive, and none that was never sent.
func Killed(t *testing.T, url string, kills Kills, away, back func(), arrived func() []string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if away == nil {
		kills.Far = 0
	}
	rng := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	var kept []string
	tried := map[string]bool{}
	life := func(kill bool, during func(acknowledged *atomic.Int64)) {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), envDir+"="+dir, envURL+"="+url)
		var errors bytes.Buffer
		cmd.Stderr = &errors
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		var acknowledged atomic.Int64
		go func() {
			defer close(done)
			for r := bufio.NewReader(out); ; {
				line, err := r.ReadString('\n')
				if err != nil {
					return // an incomplete line
				}
				what, ids, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
				for _, id := range strings.Fields(ids) {
					if tried[id] = true; what == "ok" {
						kept = append(kept, id)
						acknowledged.Add(1)
					}
				}
			}
		}()
		during(&acknowledged)
		if kill {
			_ = cmd.Process.Kill()
		} else {
			_ = in.Close()
		}
		<-done
		if err := cmd.Wait(); !kill && err != nil {
			t.Fatalf("%v: %s", err, errors.String())
		}
		if kill && acknowledged.Load() == 0 && errors.Len() > 0 {
			t.Logf("a life without an event: %s", errors.String())
		}
	}
	// until waits for enough events, since how fast they come depends on the machine.
	until := func(n *atomic.Int64, enough int64) {
		for end := time.Now().Add(2 * time.Minute); n.Load() < enough && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	for i := range kills.Service {
		life(true, func(acknowledged *atomic.Int64) {
			if i%10 != 9 { // or else it is killed while it starts
				until(acknowledged, 10+rng.Int64N(2*killEvents))
			}
			time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
			if kills.Far > 0 && i%(max(1, kills.Service/kills.Far)) == 0 {
				away()
				time.Sleep(time.Duration(rng.IntN(50)) * time.Millisecond)
				back()
				time.Sleep(time.Duration(rng.IntN(50)) * time.Millisecond)
			}
		})
		if i%10 == 9 {
			t.Logf("%d kills of the service: %d events acknowledged so far", i+1, len(kept))
		}
	}
	life(false, func(acknowledged *atomic.Int64) { until(acknowledged, killEvents) })
	there := eventIDs(t, arrived())
	Check(t, kept, there, tried, true) // four concurrent callers have no order of their own
	distinct := map[string]bool{}
	for _, id := range there {
		distinct[id] = true
	}
	t.Logf("%d kills of the service, %d of the far side: %d events acknowledged, %d arrived, %d of them duplicates", kills.Service, kills.Far, len(kept), len(there), len(there)-len(distinct))
	if most := (kills.Service + kills.Far) * killBatch; len(there)-len(distinct) > most {
		t.Errorf("more duplicates than the %d that the batches under way can be", most)
	}
	if least := kills.Service * killEvents / 4; len(kept) < least {
		t.Errorf("only %d events were acknowledged, fewer than %d: nothing is shown by that", len(kept), least)
	}
}
