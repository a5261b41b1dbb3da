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

// No event may be lost if the service that sends events is killed. Killed starts the test's own program as
// such a service again and again, and kills it.

// Variables that make the program of a test a service. It writes events to a spool (files in which events
// wait) and sends them.
const (
	envDir = "TARE_TEST_SPOOL" // directory of the spool
	envURL = "TARE_TEST_SINK"  // URL of the sink
)

// Main is for TestMain of packages that call Killed. It runs the tests, or the service if envDir is set.
func Main(m *testing.M, kinds ...sink.Kind) int {
	if dir := os.Getenv(envDir); dir != "" {
		if err := serveSpool(dir, os.Getenv(envURL), kinds); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	return m.Run()
}

// serveSpool stores events of four concurrent callers. It prints their ids before ("try") and after they were
// acknowledged ("ok"). At the end of its input it sends the rest.
func serveSpool(dir, url string, kinds sink.Kinds) error {
	list, err := kinds.Parse(url)
	if err != nil {
		return err
	}
	target, err := list[0].Open(sink.Settings{Now: time.Now})
	if err != nil {
		return err
	}
	sp, _, err := spool.Open(dir, spool.Options{Now: time.Now, Segment: 64 << 10, Bytes: killSpool})
	if err != nil {
		return err
	}
	service, err := sink.Start(sink.Config{
		Dir: dir, Dead: 1 << 20, Poll: time.Millisecond, Now: time.Now,
		Sinks:   []sink.Named{{Name: sinkName, Limits: sink.Limits{Events: killBatch, Bytes: 1 << 20, Age: 5 * time.Millisecond}, Sink: target.Sink}},
		Backoff: sink.Backoff{First: 5 * time.Millisecond, Last: 50 * time.Millisecond},
		Log:     slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	startTime := time.Now().UnixNano() // for ids unique among runs
	var mu sync.Mutex
	var callers sync.WaitGroup
	for caller := range 4 {
		callers.Go(func() { storeEvents(sp, fmt.Sprintf("%d-%d", startTime, caller), &mu, ended) })
	}
	callers.Wait()
	if err := sp.Close(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // a destination may be slow
	defer cancel()
	unsent, err := service.Stop(ctx)
	if err == nil && unsent > 0 {
		err = fmt.Errorf("%d events are left", unsent)
	}
	return err
}

// storeEvents stores events in tens until ended is closed. Ids begin with prefix. mu is for printing.
func storeEvents(sp *spool.Spool, prefix string, mu *sync.Mutex, ended <-chan struct{}) {
	printIDs := func(label string, ids []string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(os.Stdout, "%s %s\n", label, strings.Join(ids, " "))
	}
	for i := 0; ; i++ {
		select {
		case <-ended:
			return
		default:
		}
		var ids []string
		var lines []byte
		for k := range 10 {
			id := fmt.Sprintf("%s-%d-%d", prefix, i, k)
			ids = append(ids, id)
			lines = append(append(lines, Line(id)...), '\n')
		}
		printIDs("try", ids)
		if sp.Keep(context.Background(), lines, 10) == nil {
			printIDs("ok", ids)
		}
		time.Sleep(500 * time.Microsecond)
	}
}

const (
	killBatch  = 200  // events in a batch
	killEvents = 1000 // mean number of acknowledged events between two kills

	// killSpool is small, so that a full spool is sent in seconds.
	killSpool = 4 << 20
)

// Kills contains the number of kills of the service, and of the destination.
type Kills struct{ Service, Destination int }

// Soak reports whether tests run completely, even if they take long.
func Soak() bool { return os.Getenv("TARE_SOAK") != "" }

// DefaultKills returns the usual number of kills. Without TARE_SOAK it is a tenth.
func DefaultKills() Kills {
	if Soak() {
		return Kills{100, 50}
	}
	return Kills{10, 5}
}

// RealKills kills a real destination less often, because it starts slowly. TARE_SOAK changes that.
func RealKills() Kills {
	k := DefaultKills()
	if !Soak() {
		k.Destination = 1
	}
	return k
}

// killTest is a run of Killed.
type killTest struct {
	t            *testing.T
	command      string          // the program of the test
	env          []string        // makes the program a service
	acknowledged []string        // ids of acknowledged events
	tried        map[string]bool // ids of all events
}

// Killed runs the test's program as a service that sends to url. It kills the service and the destination many
// times. All acknowledged events must arrive, and none that was never tried.
//
// away and back stop and start the destination; away may be nil. arrived returns the events at the
// destination.
func Killed(t *testing.T, url string, kills Kills, away, back func(), arrived func() []string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if away == nil {
		kills.Destination = 0
	}
	k := &killTest{t: t, command: self, env: append(os.Environ(), envDir+"="+t.TempDir(), envURL+"="+url), tried: map[string]bool{}}
	k.killRepeatedly(kills, away, back)
	k.runService(endByItself, func(acknowledged *atomic.Int64) { waitForCount(acknowledged, killEvents) })
	k.checkArrived(kills, eventIDs(t, arrived()))
}

// killRepeatedly kills the service kills.Service times, and the destination in some of these runs.
func (k *killTest) killRepeatedly(kills Kills, away, back func()) {
	random := rand.New(rand.NewPCG(1, 2))
	sleepUpTo := func(ms int) { time.Sleep(time.Duration(random.IntN(ms)) * time.Millisecond) }
	for i := range kills.Service {
		isTenth := i%10 == 9
		stopsDestination := kills.Destination > 0 && i%(max(1, kills.Service/kills.Destination)) == 0
		k.runService(endByKill, func(acknowledged *atomic.Int64) {
			if !isTenth { // every tenth kill is during the start
				waitForCount(acknowledged, 10+random.Int64N(2*killEvents))
			}
			sleepUpTo(20)
			if stopsDestination {
				away()
				sleepUpTo(50)
				back()
				sleepUpTo(50)
			}
		})
		if isTenth {
			k.t.Logf("%d kills of the service: %d events acknowledged so far", i+1, len(k.acknowledged))
		}
	}
}

// checkArrived requires all acknowledged events in found. Kills explain a limited number of duplicates.
func (k *killTest) checkArrived(kills Kills, found []string) {
	const unordered = true // four callers are concurrent, so the order is undefined
	Check(k.t, k.acknowledged, found, k.tried, unordered)
	distinct := map[string]bool{}
	for _, id := range found {
		distinct[id] = true
	}
	duplicates := len(found) - len(distinct)
	k.t.Logf("%d kills of the service, %d of the destination: %d events acknowledged, %d arrived, %d of them duplicates", kills.Service, kills.Destination, len(k.acknowledged), len(found), duplicates)
	if maxDuplicates := (kills.Service + kills.Destination) * killBatch; duplicates > maxDuplicates { // a kill repeats at most the batch in flight
		k.t.Errorf("more duplicates than the %d that the batches under way can be", maxDuplicates)
	}
	if minEvents := kills.Service * killEvents / 4; len(k.acknowledged) < minEvents {
		k.t.Errorf("only %d events were acknowledged, fewer than %d: the test shows nothing", len(k.acknowledged), minEvents)
	}
}

type ending int

const (
	endByKill   ending = iota // kill the process
	endByItself               // close its input: it sends all events and ends
)

// runService starts the service, calls during, and ends the service. acknowledged counts events since the
// start.
func (k *killTest) runService(end ending, during func(acknowledged *atomic.Int64)) {
	cmd := exec.Command(k.command)
	cmd.Env = k.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	outputRead := make(chan struct{})
	var acknowledged atomic.Int64
	go func() {
		defer close(outputRead)
		k.recordIDs(out, &acknowledged)
	}()
	during(&acknowledged)
	if end == endByKill {
		_ = cmd.Process.Kill()
	} else {
		_ = in.Close()
	}
	<-outputRead
	if err := cmd.Wait(); end == endByItself && err != nil {
		k.t.Fatalf("%v: %s", err, stderr.String())
	}
	if end == endByKill && acknowledged.Load() == 0 && stderr.Len() > 0 {
		k.t.Logf("a life without an event: %s", stderr.String())
	}
}

func (k *killTest) recordIDs(out io.Reader, acknowledged *atomic.Int64) {
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return // an incomplete line
		}
		label, ids, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		for _, id := range strings.Fields(ids) {
			k.tried[id] = true
			if label == "ok" {
				k.acknowledged = append(k.acknowledged, id)
				acknowledged.Add(1)
			}
		}
	}
}

// waitForCount waits until n is at least enough, for at most two minutes: the rate depends on the machine.
func waitForCount(n *atomic.Int64, enough int64) {
	for end := time.Now().Add(2 * time.Minute); n.Load() < enough && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}
