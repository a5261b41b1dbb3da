package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/ingest/commit"
	"github.com/tarebench/tare/internal/atomicfile/atomicfiletest"
)

func mustOpen(t *testing.T, path string, o Options) *File {
	t.Helper()
	f, _, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func mustKeep(t *testing.T, f *File, lines string) {
	t.Helper()
	if err := f.Keep(context.Background(), []byte(lines), strings.Count(lines, "\n")); err != nil {
		t.Fatal(err)
	}
}

// content is what files hold, by name.
func content(d *atomicfiletest.Disk) map[string]string {
	out := map[string]string{}
	for path, text := range d.Content() {
		out[filepath.Base(path)] = text
	}
	return out
}

func wantContent(t *testing.T, d *atomicfiletest.Disk, want map[string]string) {
	t.Helper()
	if got := content(d); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// held makes d wait before it syncs. Each call of next lets one sync happen, once it is there.
func held(d *atomicfiletest.Disk) (next func()) {
	at, on := make(chan struct{}), make(chan struct{})
	d.OnSync = func() { at <- struct{}{}; <-on }
	return func() { <-at; on <- struct{}{} }
}

// waiting waits until n batches wait for the next turn.
func waiting(t *testing.T, f *File, n int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		have := f.queue.Waiting()
		if have == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d batches wait, not %d", have, n)
		}
		time.Sleep(time.Millisecond)
	}
}

// keepers call Keep, each with one line, and collect what it says.
type keepers struct {
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

func (k *keepers) keep(ctx context.Context, f *File, line string) {
	k.wg.Add(1)
	go func() {
		defer k.wg.Done()
		err := f.Keep(ctx, []byte(line+"\n"), 1)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.errs = append(k.errs, err)
	}()
}

func (k *keepers) failed() (n int) {
	k.wg.Wait()
	for _, err := range k.errs {
		if err != nil {
			n++
		}
	}
	return n
}

func TestBatchesThatWaitAreWrittenTogether(t *testing.T) {
	d := atomicfiletest.NewDisk(1)
	f := mustOpen(t, path, Options{Fsync: true, files: d})
	next := held(d)
	var k keepers
	k.keep(context.Background(), f, "first")
	for at := 0; at == 0; time.Sleep(time.Millisecond) { // until it holds the turn
		at = int(f.Stats().Writes)
	}
	for i := range 50 {
		k.keep(context.Background(), f, fmt.Sprint(i))
	}
	waiting(t, f, 50)
	next()
	next()
	if n := k.failed(); n > 0 {
		t.Errorf("%d failed: %v", n, k.errs)
	}
	if s := f.Stats(); s.Writes != 2 || s.Syncs != 2 {
		t.Errorf("%+v for 51 batches, want 2 writes and 2 syncs", s)
	}
	if got := strings.Count(content(d)["events.ndjson"], "\n"); got != 51 {
		t.Errorf("%d lines", got)
	}
	d.OnSync = nil
}

func TestKeepOfAnEndedContext(t *testing.T) {
	d := atomicfiletest.NewDisk(1)
	f := mustOpen(t, path, Options{Fsync: true, files: d})
	next := held(d)
	ctx, cancel := context.WithCancel(context.Background())
	var first, given, last keepers
	first.keep(context.Background(), f, "first")
	for f.Stats().Writes == 0 {
		time.Sleep(time.Millisecond)
	}
	given.keep(ctx, f, "given up")
	last.keep(context.Background(), f, "last")
	waiting(t, f, 2)
	cancel()
	if given.failed() != 1 || !errors.Is(given.errs[0], context.Canceled) {
		t.Errorf("a batch that waited, and whose context ended: %v", given.errs)
	}
	next()
	next()
	if first.failed()+last.failed() > 0 {
		t.Errorf("%v %v", first.errs, last.errs)
	}
	d.OnSync = nil
	if err := f.Keep(ctx, []byte("late\n"), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	wantContent(t, d, map[string]string{"events.ndjson": "first\nlast\n"})
}

// What is being written when its context ends is waited for.
func TestKeepWhoseContextEndsTooLate(t *testing.T) {
	d := atomicfiletest.NewDisk(1)
	f := mustOpen(t, path, Options{Fsync: true, files: d})
	next := held(d)
	ctx, cancel := context.WithCancel(context.Background())
	var first, second keepers
	first.keep(context.Background(), f, "first")
	for f.Stats().Writes == 0 {
		time.Sleep(time.Millisecond)
	}
	second.keep(ctx, f, "second")
	second.keep(ctx, f, "third")
	waiting(t, f, 2)
	next()
	for f.Stats().Writes == 1 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	next()
	if first.failed()+second.failed() > 0 {
		t.Errorf("%v %v", first.errs, second.errs)
	}
	d.OnSync = nil
}

func TestFullDisk(t *testing.T) {
	for _, fsync := range []bool{false, true} {
		d := atomicfiletest.NewDisk(1)
		f := mustOpen(t, path, Options{Fsync: fsync, files: d})
		mustKeep(t, f, "one\n")
		d.Room = 6
		if err := f.Keep(context.Background(), []byte("two\ntwo\n"), 2); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a batch that has no room: %v", err)
		}
		mustKeep(t, f, "three\n")
		d.Room = -1
		mustKeep(t, f, "four\n")
		wantContent(t, d, map[string]string{"events.ndjson": "one\nthree\nfour\n"})
	}
}

// A file whose last write can be neither finished nor undone takes nothing more until it can.
func TestWriteThatCannotBeUndone(t *testing.T) {
	d := atomicfiletest.NewDisk(1)
	f := mustOpen(t, path, Options{files: d})
	mustKeep(t, f, "one\n")
	d.Room, d.Fails = 3, 1
	for range 3 {
		if err := f.Keep(context.Background(), []byte("two\n"), 1); err == nil {
			t.Error("kept on a broken disk")
		}
	}
	d.Room, d.Fails = -1, 0
	mustKeep(t, f, "three\n")
	wantContent(t, d, map[string]string{"events.ndjson": "one\nthree\n"})
}

func TestFailedSync(t *testing.T) {
	d := atomicfiletest.NewDisk(1)
	f := mustOpen(t, path, Options{Fsync: true, files: d})
	fail := func(line string) {
		t.Helper()
		d.OnSync = func() { d.Mu.Lock(); d.Fails = 1; d.Mu.Unlock(); d.OnSync = nil }
		if err := f.Keep(context.Background(), []byte(line), 1); !errors.Is(err, atomicfiletest.ErrIO) {
			t.Errorf("keep %q: %v", line, err)
		}
		d.Fails = 0
	}
	fail("nothing\n")
	mustKeep(t, f, "one\n")
	wantContent(t, d, map[string]string{"events.ndjson": "one\n"}) // nothing counted in the first
	fail("two\n")
	mustKeep(t, f, "three\n")
	wantContent(t, d, map[string]string{"events.ndjson": "three\n", "events.ndjson.1": "one\n"})
	if s := f.Stats(); s.Failures != 2 || s.Rotations != 0 {
		t.Errorf("%+v", s)
	}
}

func TestClose(t *testing.T) {
	d := atomicfiletest.NewDisk(1)
	f := mustOpen(t, path, Options{Fsync: true, files: d})
	next := held(d)
	var k keepers
	k.keep(context.Background(), f, "first")
	for f.Stats().Writes == 0 {
		time.Sleep(time.Millisecond)
	}
	k.keep(context.Background(), f, "second")
	k.keep(context.Background(), f, "third")
	waiting(t, f, 2)
	closed := make(chan error, 2)
	go func() { closed <- f.Close() }()
	go func() { closed <- f.Close() }()
	next()
	next()
	if err := errors.Join(<-closed, <-closed); err != nil {
		t.Error(err)
	}
	if n := k.failed(); n > 0 {
		t.Errorf("%d failed: %v", n, k.errs)
	}
	if err := f.Keep(context.Background(), []byte("late\n"), 1); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if got := content(d)["events.ndjson"]; strings.Count(got, "\n") != 3 {
		t.Errorf("%q", got)
	}
}

func TestWhatIsNoBatch(t *testing.T) {
	d := atomicfiletest.NewDisk(1)
	f := mustOpen(t, path, Options{files: d})
	for _, lines := range [][]byte{[]byte("no end"), []byte("zero\x00\n"), bytes.Repeat([]byte("\n"), MaxBatch+1)} {
		if err := f.Keep(context.Background(), lines, 1); err == nil {
			t.Errorf("%.10q was kept", lines)
		}
	}
	if err := f.Keep(context.Background(), nil, 0); err != nil {
		t.Error(err)
	}
	wantContent(t, d, map[string]string{"events.ndjson": ""})
}

func TestOpenWhereItCannot(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Open(filepath.Join(dir, "none", "e"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in no directory: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "e"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the lock is given back
		if _, _, err := Open(filepath.Join(dir, "e"), Options{}); err == nil || strings.Contains(err.Error(), "another process") {
			t.Errorf("of a directory: %v", err)
		}
	}
}

// A long queue is written in pieces, so that memory stays bounded.
func TestLongQueue(t *testing.T) {
	d := atomicfiletest.NewDisk(1)
	f := mustOpen(t, path, Options{files: d})
	line := append(bytes.Repeat([]byte("x"), maxWrite/4), '\n')
	var batches []*commit.Batch
	for range 9 {
		batches = append(batches, &commit.Batch{Lines: line})
	}
	f.store.writeBatches(batches)
	if slices.ContainsFunc(batches, func(b *commit.Batch) bool { return b.Err != nil }) {
		t.Error("failed")
	}
	if got := f.Stats().Writes; got != 3 {
		t.Errorf("%d writes of at most %d bytes for 9 batches of %d", got, maxWrite, len(line))
	}
	if got, want := len(content(d)["events.ndjson"]), 9*len(line); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}
