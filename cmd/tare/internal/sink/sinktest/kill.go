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

// Environment variables that make the program of a test run a service instead of the tests: it writes
// events to a spool and sends them until it is killed.
const (
	envDir = "TARE_TEST_SPOOL" // directory of the spool
	envURL = "TARE_TEST_SINK"  // URL of the sink
)

// Main is called by TestMain of packages that call Killed. It runs the tests, or the service if envDir is
// set, and returns the exit code.
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

// runService stores events of four concurrent callers, and prints their ids before it stores them ("try")
// and after they were acknowledged ("ok"). At the end of its standard input it sends the remaining events
// and returns.
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
	print := func(label string, ids []string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(os.Stdout, "%s %s\n", label, strings.Join(ids, " "))
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
	killBatch  = 200  // events in a batch
	killEvents = 1000 // mean number of acknowledged events between two kills

	// killSpool is small, so that events that wait for the start of a destination are sent in seconds.
	killSpool = 4 << 20
)

// Kills contains the number of kills of the service, and of the destination.
type Kills struct{ Service, Far int }

// Soak reports whether tests run completely, even if they take long.
func Soak() bool { return os.Getenv("TARE_SOAK") != "" }

// DefaultKills returns the usual number of kills. Without TARE_SOAK it is a tenth.
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

// Killed runs the test's own program as a service that sends to url, and kills it and its destination many
// times under load. All acknowledged events must arrive, and no event that was never tried. away and back
// stop and start the destination; away may be nil. arrived returns the events of the destination.
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
	var kept []string          // ids of acknowledged events
	tried := map[string]bool{} // ids of all events
	// runLife starts the service, calls during, and kills the service or lets it end.
	runLife := func(kill bool, during func(acknowledged *atomic.Int64)) {
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
				label, ids, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
				for _, id := range strings.Fields(ids) {
					if tried[id] = true; label == "ok" {
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
	// waitFor waits for enough events: their rate depends on the machine.
	waitFor := func(n *atomic.Int64, enough int64) {
		for end := time.Now().Add(2 * time.Minute); n.Load() < enough && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	for i := range kills.Service {
		runLife(true, func(acknowledged *atomic.Int64) {
			if i%10 != 9 { // every tenth time the service is killed while it starts
				waitFor(acknowledged, 10+rng.Int64N(2*killEvents))
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
	runLife(false, func(acknowledged *atomic.Int64) { waitFor(acknowledged, killEvents) })
	found := eventIDs(t, arrived())
	Check(t, kept, found, tried, true) // the order of four concurrent callers is undefined
	distinct := map[string]bool{}
	for _, id := range found {
		distinct[id] = true
	}
	duplicates := len(found) - len(distinct)
	t.Logf("%d kills of the service, %d of the far side: %d events acknowledged, %d arrived, %d of them duplicates", kills.Service, kills.Far, len(kept), len(found), duplicates)
	if maxDuplicates := (kills.Service + kills.Far) * killBatch; duplicates > maxDuplicates {
		t.Errorf("more duplicates than the %d that the batches under way can be", maxDuplicates)
	}
	if minEvents := kills.Service * killEvents / 4; len(kept) < minEvents {
		t.Errorf("only %d events were acknowledged, fewer than %d: nothing is shown by that", len(kept), minEvents)
	}
}
