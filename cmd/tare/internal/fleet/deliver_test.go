package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tarebench/tare/internal/atomicfile"
)

// A result that the coordinator cannot write is sent again, and not measured again.
func TestResultThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a directory with open files cannot be moved")
	}
	h := hub(t, HubOptions{})
	dir := filepath.Join(t.TempDir(), "run")
	away := dir + ".away"
	var orders atomic.Int64
	piped(t, h, &Agent{Study: func(ctx context.Context, o StudyOrder, task Task) ([]byte, error) {
		orders.Add(1)
		for done := range o.Most {
			if _, err := task.Permit(ctx, done); err != nil {
				return nil, err
			}
		}
		if err := os.Rename(dir, away); err != nil && orders.Load() == 1 {
			t.Errorf("the directory stays: %v", err)
		}
		return json.Marshal(result(o, o.Most))
	}}, "a")
	var mu sync.Mutex
	var said []string
	var once sync.Once
	run := &StudyRun{Hub: h, Dir: dir, Machines: []string{"a"}, Share: 2, Study: StudyOrder{Command: "run", ID: "s", Text: study, Seed: 5}, Say: func(_, line string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, line)
		once.Do(func() { _ = os.Rename(away, dir) })
	}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	results, err := run.Run(ctx)
	if err != nil || len(results) != 1 || orders.Load() != 1 {
		t.Errorf("%d orders, %d results, %v", orders.Load(), len(results), err)
	}
	if len(said) != 2 || !strings.Contains(said[0], "cannot keep its result") {
		t.Errorf("%q", said)
	}
}

// A result whose line the journal does not take is none, until a later run takes it.
func TestResultBeyondTheJournal(t *testing.T) {
	t.Parallel()
	h := hub(t, HubOptions{})
	dir := t.TempDir()
	opened := func() *StudyRun {
		run := &StudyRun{Hub: h, Dir: dir, Machines: []string{"a"}, Share: 2, Study: StudyOrder{Command: "run", ID: "s", Text: study, Seed: 5}, Say: func(string, string) {}}
		if err := run.openJournal(); err != nil {
			t.Fatal(err)
		}
		return run
	}
	run := opened()
	if err := run.record(event{What: "begin", Order: "o", Machine: "a"}); err != nil {
		t.Fatal(err)
	}
	for done := range 2 {
		if p := run.answerPermit("a", permitRequest{"o", done}); p.Round == 0 {
			t.Fatalf("%+v", p)
		}
	}
	text, err := json.Marshal(result(run.Study, 2))
	if err != nil {
		t.Fatal(err)
	}
	good := run.journal
	if run.journal, err = os.Open(os.DevNull); err != nil { // it takes no line
		t.Fatal(err)
	}
	for range 2 {
		var busy *busyError
		if err := run.acceptOutcome("a", outcome{Order: "o", Result: text}); !errors.As(err, &busy) {
			t.Errorf("%v", err)
		}
		if got := run.collectResults(); len(got) > 0 {
			t.Errorf("measured: %+v", got)
		}
	}
	run.journal.Close()
	run.journal = good
	if err := run.writeLine(event{What: "lose", Order: "o"}); err == nil {
		t.Error("a line was written behind one that may be torn")
	}
	good.Close()
	if files, _ := filepath.Glob(filepath.Join(dir, "machine-*")); len(files) != 1 {
		t.Errorf("%q, want the one of the first attempt", files)
	}
	again := opened()
	defer again.journal.Close()
	if err := again.acceptOutcome("a", outcome{Order: "o", Result: text}); err != nil || len(again.collectResults()) != 1 {
		t.Errorf("later: %+v, %v", again.collectResults(), err)
	}
}

// syncs counts directories that are brought to stable storage.
type syncs struct {
	atomicfile.System
	dirs []string
	err  error
}

func (s *syncs) SyncDir(dir string) error {
	s.dirs = append(s.dirs, dir)
	return s.err
}

// The name of a journal is on stable storage before it has a line that a machine is told.
func TestJournalHasAName(t *testing.T) {
	t.Parallel()
	d := &syncs{}
	run := &StudyRun{Dir: t.TempDir(), Machines: []string{"a"}, Share: 1, Study: StudyOrder{Command: "run", ID: "s", Text: study, Seed: 5}, disk: d}
	if err := run.openJournal(); err != nil {
		t.Fatal(err)
	}
	run.journal.Close()
	if len(d.dirs) != 1 || d.dirs[0] != run.Dir {
		t.Errorf("%q were synced", d.dirs)
	}
	run.Dir, d.err = t.TempDir(), errors.New("the disk is gone")
	if err := run.openJournal(); !errors.Is(err, d.err) {
		t.Errorf("%v", err)
	}
}

// A coordinator that ends between two parts of a result gets all parts when it goes on.
func TestCoordinatorEndsBetweenParts(t *testing.T) {
	t.Parallel()
	for range 10 {
		if !coordinatorLoses(t) {
			return
		}
	}
	t.Error("ten times the coordinator had lost the machine before it ended")
}

// coordinatorLoses ends a coordinator between two parts of a result and has another
// one go on. It returns true if the first saw that its connection was gone before it
// ended, and had given the machine's rounds to others.
func coordinatorLoses(t *testing.T) bool {
	t.Helper()
	c := newCluster(t)
	fake, err := nats.Connect(c.url())
	if err != nil {
		t.Fatal(err)
	}
	defer fake.Close()
	h := hub(t, HubOptions{URL: c.url(), Prefix: "parcel"})
	ctx, interrupt := context.WithCancel(t.Context())
	var orders atomic.Int64
	first := make(chan bool, 1)
	a := &Agent{Prefix: "parcel", times: shortTimes(), Hello: Hello{Name: "a"}, Study: func(ctx context.Context, o StudyOrder, task Task) ([]byte, error) {
		orders.Add(1)
		for done := range o.Most {
			if _, err := task.Permit(ctx, done); err != nil {
				return nil, err
			}
		}
		if orders.Load() == 1 {
			h.nc.Close()
			sub, err := fake.Subscribe("parcel.from.a.result", func(m *nats.Msg) { sendReply(m, receipt{}); first <- true })
			if err == nil {
				err = errors.Join(sub.AutoUnsubscribe(1), fake.Flush())
			}
			if err != nil {
				return nil, err
			}
			interrupt()
		}
		text, err := json.Marshal(result(o, o.Most))
		return append(text, bytes.Repeat([]byte(" "), maxPart)...), err
	}}
	serving, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = a.ServeJoined(serving, Join{URL: c.url()}) }()
	defer func() { stop(); <-done }()
	var lost atomic.Bool
	run := func(h *Hub, dir string) *StudyRun {
		return &StudyRun{Hub: h, Dir: dir, Machines: []string{"a"}, Share: 2, Study: StudyOrder{Command: "run", ID: "s", Text: study, Seed: 5}, Say: func(name, line string) {
			t.Log(name, line)
			if strings.Contains(line, "are given to others") {
				lost.Store(true)
			}
		}}
	}
	dir := t.TempDir()
	if results, _ := run(h, dir).Run(ctx); len(results) > 0 {
		t.Fatalf("%+v", results)
	}
	<-first
	if lost.Load() {
		return true
	}
	results, err := run(hub(t, HubOptions{URL: c.url(), Prefix: "parcel"}), dir).Run(t.Context())
	if err != nil || len(results) != 1 || orders.Load() != 1 {
		t.Errorf("%d orders, %d results, %v", orders.Load(), len(results), err)
	}
	return false
}
