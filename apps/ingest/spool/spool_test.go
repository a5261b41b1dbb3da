package spool

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/atomicfile/atomicfiletest"
)

const dir = "d"

// clock is a time that tests set.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func at(seconds int) time.Time { return time.Unix(1_700_000_000+int64(seconds), 0) }

func mustOpen(t *testing.T, files atomicfile.Disk, o Options) *Spool {
	t.Helper()
	o.files = files
	if o.Now == nil {
		o.Now = (&clock{at(0)}).Now
	}
	s, _, err := Open(dir, o)
	assert.NoError(t, "open", err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// rig is a spool with readers in memory.
type rig struct {
	t      *testing.T
	disk   *atomicfiletest.Disk
	clock  *clock
	spool  *Spool
	all    *Readers
	reader *Reader
	damage []Damage
}

func newRig(t *testing.T, o Options) *rig {
	t.Helper()
	r := &rig{t: t, disk: atomicfiletest.NewDisk(1), clock: &clock{at(0)}}
	o.Now = r.clock.Now
	r.spool = mustOpen(t, r.disk, o)
	r.read()
	return r
}

// read opens the reader, again if it was open.
func (r *rig) read() {
	r.t.Helper()
	if r.all != nil {
		assert.NoError(r.t, "close readers", r.all.Close())
	}
	var err error
	r.all, err = openReaders(r.disk, dir, []string{"a"}, r.spool.options.Fsync, func(d Damage) { r.damage = append(r.damage, d) })
	assert.NoError(r.t, "open readers", err)
	r.reader = r.all.All()[0]
}

func (r *rig) keep(lines ...string) error {
	return r.spool.Keep(context.Background(), []byte(strings.Join(lines, "\n")+"\n"), len(lines))
}

func (r *rig) mustKeep(lines ...string) {
	r.t.Helper()
	assert.NoError(r.t, "keep", r.keep(lines...))
}

// take reads and commits all that there is.
func (r *rig) take() string {
	r.t.Helper()
	var text strings.Builder
	for empty := 0; empty <= 2*maxBadReads; empty++ {
		var b Batch
		assert.NoError(r.t, "take", r.reader.Take(&b, 3, 1000))
		if b.Len() == 0 {
			continue
		}
		empty = 0
		assert.Equal(r.t, "lines", Lines(b.Lines), b.Len())
		text.Write(b.Lines)
		assert.NoError(r.t, "begin", r.reader.Begin(&b))
		assert.NoError(r.t, "done", r.reader.Done(&b, 0))
		assert.NoError(r.t, "free", r.all.Free(r.reader))
	}
	return strings.ReplaceAll(text.String(), "\n", " ")
}

func TestEventsComeOutInOrder(t *testing.T) {
	r := newRig(t, Options{Bytes: LeastBytes, Segment: 200})
	want := ""
	for i := range 20 {
		a, b := fmt.Sprintf("%d-a", i), fmt.Sprintf("%d-b", i)
		r.mustKeep(a, b)
		want += a + " " + b + " "
		if i == 7 {
			assert.Equal(t, "the first", r.take(), want)
			want = ""
			r.read()
		}
	}
	assert.Equal(t, "all", r.take(), want)
	st := r.spool.Status()
	assert.Equal(t, "events", st.Next, uint64(40))
	assert.Equal(t, "sent", st.Cursors[0].Sent, uint64(40))
	if st.Bytes > 400 {
		t.Errorf("%d bytes are left of what is sent", st.Bytes)
	}
}

// What was not committed comes again, and the pending batch with the same
// events under the same name.
func TestUncommittedComesAgain(t *testing.T) {
	r := newRig(t, Options{})
	r.mustKeep("1", "2", "3")
	var first, again Batch
	assert.NoError(t, "take", r.reader.Take(&first, 2, 1000))
	assert.NoError(t, "begin", r.reader.Begin(&first))
	r.read()
	r.mustKeep("4")
	assert.Equal(t, "pending", r.reader.Pending(), uint64(2))
	assert.NoError(t, "take", r.reader.Take(&again, int(r.reader.Pending()), math.MaxInt))
	assert.Equal(t, "lines", string(again.Lines), string(first.Lines))
	assert.Equal(t, "id", again.ID, first.ID)
	assert.Equal(t, "from", again.From, first.From)
	assert.NoError(t, "done", r.reader.Done(&again, 1))
	assert.Equal(t, "the rest", r.take(), "3 4 ")
	assert.Equal(t, "dead", r.reader.Cursor().Dead, uint64(1))
}

// A batch is of one life of the spool: the far side may know numbers of an
// earlier one that a power cut has taken back.
func TestBatchIsOfOneLife(t *testing.T) {
	r := newRig(t, Options{})
	r.mustKeep("1")
	assert.NoError(t, "close", r.spool.Close())
	r.spool = mustOpen(t, r.disk, Options{})
	r.mustKeep("2")
	var one, two Batch
	assert.NoError(t, "take", r.reader.Take(&one, 10, 1000))
	assert.NoError(t, "take", r.reader.Take(&two, 10, 1000))
	assert.Equal(t, "first", string(one.Lines)+fmt.Sprint(one.Closed), "1\ntrue")
	assert.Equal(t, "second", string(two.Lines), "2\n")
	if one.ID == two.ID {
		t.Error("both have one name")
	}
}

func TestBounds(t *testing.T) {
	r := newRig(t, Options{Bytes: LeastBytes, Age: time.Minute})
	line := strings.Repeat("x", 1000)
	n := 0
	for ; r.keep(line) == nil; n++ {
		if n > 100 {
			t.Fatal("it never becomes full")
		}
	}
	if n < 50 {
		t.Errorf("full after %d kB of 64", n)
	}
	assert.ErrorIs(t, "full", r.keep(line), ErrFull)
	assert.Equal(t, "bytes on disk are bounded", r.spool.Status().Bytes <= LeastBytes, true)
	assert.Equal(t, "sent", len(r.take()), n*1001)
	r.clock.now = at(1)
	r.mustKeep(line)
	r.clock.now = at(30)
	r.mustKeep("younger")
	r.clock.now = at(63)
	assert.ErrorIs(t, "too old", r.keep(line), ErrFull)
	r.take()
	r.clock.now = at(64)
	r.mustKeep(line)
	assert.Equal(t, "refused", r.spool.Status().Full, int64(3))
}

func TestWhatIsNoBatch(t *testing.T) {
	r := newRig(t, Options{Bytes: LeastBytes})
	for _, lines := range []string{"no end", "one\ntwo\n"} {
		if err := r.spool.Keep(context.Background(), []byte(lines), 1); err == nil {
			t.Errorf("%q was kept", lines)
		}
	}
	assert.ErrorIs(t, "too large", r.keep(strings.Repeat("x", LeastBytes/2)), ErrTooLarge)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	assert.ErrorIs(t, "ended", r.spool.Keep(ctx, []byte("a\n"), 1), context.Canceled)
	assert.NoError(t, "nothing", r.spool.Keep(context.Background(), nil, 0))
	assert.NoError(t, "close", r.spool.Close())
	assert.ErrorIs(t, "closed", r.keep("a"), ErrClosed)
	assert.Equal(t, "kept", r.take(), "")
}

func TestWait(t *testing.T) {
	r := newRig(t, Options{Wait: 50 * time.Millisecond})
	assert.ErrorIs(t, "nobody sends", r.keep("1"), ErrWait)
	r.spool.options.Wait = time.Minute
	done := make(chan error, 2)
	for _, line := range []string{"2", "3"} {
		go func() { done <- r.keep(line) }()
	}
	sent := ""
	for end := time.Now().Add(time.Minute); len(done) < 2 && time.Now().Before(end); {
		sent += r.take()
	}
	assert.NoError(t, "first", <-done)
	assert.NoError(t, "second", <-done)
	assert.Equal(t, "length", len(sent), len("1 2 3 "))
}

func TestFullDisk(t *testing.T) {
	r := newRig(t, Options{Fsync: true})
	r.mustKeep("1", "2")
	r.disk.Room = 20
	assert.ErrorIs(t, "no room", r.keep("lost"), syscall.ENOSPC)
	assert.ErrorIs(t, "no room", r.keep("lost"), syscall.ENOSPC)
	assert.Equal(t, "readers go on", r.take(), "1 2 ")
	r.disk.Room = -1
	r.mustKeep("3")
	assert.Equal(t, "then", r.take(), "3 ")
	assert.Equal(t, "nothing is reported as lost", len(r.damage), 0)
}

// A write that fails leaves no event that waits, however long ago the last one came, and
// so does a process that dies when it has begun a segment.
func TestFailedWriteHasNoAge(t *testing.T) {
	for _, restart := range []bool{false, true} {
		r := newRig(t, Options{Age: 10 * time.Minute})
		r.mustKeep("1")
		assert.Equal(t, "sent", r.take(), "1 ")
		r.clock.now = r.clock.now.Add(15 * time.Minute)
		r.disk.Room = 20
		assert.ErrorIs(t, "no room", r.keep("lost"), syscall.ENOSPC)
		r.disk.Room = -1
		if restart {
			assert.NoError(t, "close", r.spool.Close())
			last := segmentPath(dir, r.spool.lastSegment)
			f, err := r.disk.OpenFile(last, atomicfile.Append)
			assert.NoError(t, "open", err)
			_, err = f.Write(header{r.spool.id, r.spool.next, r.spool.acked, r.clock.now}.appendTo(nil))
			assert.NoError(t, "write", err)
			r.clock.now = r.clock.now.Add(15 * time.Minute)
			r.spool = mustOpen(t, r.disk, r.spool.options)
			r.read()
		}
		for i := range 3 {
			r.clock.now = r.clock.now.Add(time.Second)
			r.mustKeep(fmt.Sprint(i))
		}
		assert.Equal(t, "age", r.spool.Status().Age, 2*time.Second)
		assert.Equal(t, "then", r.take(), "0 1 2 ")
	}
}

// A sync that fails leaves lines that a reader may have seen: their numbers are not used again.
func TestFailedSync(t *testing.T) {
	r := newRig(t, Options{Fsync: true})
	r.mustKeep("1")
	r.disk.OnSync = func() { r.disk.Fails = 1; r.disk.OnSync = nil }
	assert.ErrorIs(t, "sync", r.keep("unacknowledged"), atomicfiletest.ErrIO)
	r.disk.Fails = 0
	r.mustKeep("2")
	got := strings.ReplaceAll(r.take(), "unacknowledged ", "")
	assert.Equal(t, "sent", got, "1 2 ")
	assert.Equal(t, "lost", len(r.damage), 0)
}

// The bytes of a failed write that cannot be removed count against the spool's limit, also those of a
// batch that is too large for the buffer that the spool retains.
func TestFailedWriteCountsItsBytes(t *testing.T) {
	for _, size := range []int{10, 2*maxWrite + 1} {
		r := newRig(t, Options{Fsync: true})
		r.mustKeep("1")
		r.disk.OnSync = func() { r.disk.Fails = 1; r.disk.OnSync = nil } // the write succeeds; all that follows fails
		assert.ErrorIs(t, "sync", r.keep(strings.Repeat("x", size)), atomicfiletest.ErrIO)
		r.disk.Fails = 0
		segment := segmentPath(dir, 1)
		assert.Equal(t, fmt.Sprintf("size of a segment after a failed write of %d bytes", size), r.spool.sizes[filepath.Base(segment)], int64(len(r.disk.Content()[segment])))
	}
}

func TestReadErrorPassesNothingOver(t *testing.T) {
	r := newRig(t, Options{})
	r.mustKeep("1")
	r.disk.Fails = 1
	var b Batch
	if err := r.reader.Take(&b, 10, 100); !errors.Is(err, atomicfiletest.ErrIO) || b.Len() > 0 {
		t.Errorf("%v, %d events", err, b.Len())
	}
	r.disk.Fails = 0
	assert.Equal(t, "then", r.take(), "1 ")
}

func TestReadersOfOtherNamesAreRefused(t *testing.T) {
	r := newRig(t, Options{})
	assert.NoError(t, "close", r.all.Close())
	_, err := openReaders(r.disk, dir, []string{"b"}, false, nil)
	assert.ErrorContains(t, "other name", err, "a.cursor")
	_, err = openReaders(r.disk, dir, []string{"a", "x/y"}, false, nil)
	assert.ErrorContains(t, "no name", err, "cannot be")
	r.all = nil
	r.read()
	_, err = openReaders(r.disk, dir, []string{"a"}, false, nil)
	assert.ErrorContains(t, "twice", err, "locked")
	_, _, err = Open(dir, Options{files: r.disk})
	assert.ErrorContains(t, "two writers", err, "locked")
	_, _, err = Open(dir, Options{files: r.disk, Bytes: 1})
	assert.ErrorContains(t, "too small", err, "least")
}

// All readers have to be done with a segment before it goes.
func TestSegmentsStayForTheSlowest(t *testing.T) {
	r := newRig(t, Options{Segment: 100})
	assert.NoError(t, "close", r.all.Close())
	var err error
	r.all, err = openReaders(r.disk, dir, []string{"a", "b"}, false, func(d Damage) { t.Error(d) })
	assert.NoError(t, "open", err)
	for i := range 10 {
		r.mustKeep(fmt.Sprint(i))
	}
	left, err := r.all.Left()
	assert.NoError(t, "left", err)
	assert.Equal(t, "left", left, uint64(10))
	const all = "0 1 2 3 4 5 6 7 8 9 "
	r.reader = r.all.All()[0]
	assert.Equal(t, "the fast one", r.take(), all)
	r.reader = r.all.All()[1]
	assert.Equal(t, "the slow one", r.take(), all)
	if n := strings.Count(fmt.Sprint(r.disk.Content()), segmentEnd); n > 1 {
		t.Errorf("%d segments are left", n)
	}
}
