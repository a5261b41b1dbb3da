package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tarebench/tare"
)

// faultDisk is a disk of one file on which the n-th operation fails.
type faultDisk struct {
	fault  fault
	at     int // which operation fails, from 1; 0: none
	count  int
	down   bool // after a crash nothing works
	exists bool
	data   []byte
	synced int // bytes that a power loss leaves
}

// fault is a way to fail.
type fault struct {
	name  string
	err   error
	short bool // a write leaves half of its bytes
	crash bool // and nothing works any more, with what was not synced lost
}

// step counts an operation and returns the error that it is to have.
func (d *faultDisk) step() error {
	if d.down {
		return d.fault.err
	}
	if d.count++; d.count != d.at {
		return nil
	}
	d.down = d.fault.crash
	return d.fault.err
}

func (d *faultDisk) open(_ string, flag int) (file, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	if flag&os.O_EXCL != 0 && d.exists {
		return nil, os.ErrExist
	}
	d.exists = true
	return &faultFile{disk: d}, nil
}

type faultFile struct {
	disk *faultDisk
	pos  int
}

func (f *faultFile) Read(p []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		return 0, err
	}
	if f.pos == len(f.disk.data) {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 300)], f.disk.data[f.pos:]) // several reads a file
	f.pos += n
	return n, nil
}

func (f *faultFile) Write(p []byte) (int, error) {
	err := f.disk.step()
	if err != nil {
		if f.disk.fault.short {
			f.disk.data = append(f.disk.data, p[:len(p)/2]...)
			return len(p) / 2, err
		}
		return 0, err
	}
	f.disk.data = append(f.disk.data, p...)
	return len(p), nil
}

func (f *faultFile) Sync() error {
	if err := f.disk.step(); err != nil {
		return err
	}
	f.disk.synced = len(f.disk.data)
	return nil
}

func (f *faultFile) Truncate(size int64) error {
	if err := f.disk.step(); err != nil {
		return err
	}
	f.disk.data = f.disk.data[:size]
	f.disk.synced = min(f.disk.synced, int(size))
	return nil
}

func (f *faultFile) Close() error { return f.disk.step() }

// keepRounds writes three rounds, resumes and writes two more. It returns how many
// ends of rounds were acknowledged, and goes on after errors as a careless caller
// would.
func keepRounds(d *faultDisk) (acknowledged int) {
	add := func(w *Writer, from, to int) {
		for i := from; i <= to; i++ {
			_ = w.Append(Entry{Slice: &tare.Slice{Round: i}})
			if w.Append(Entry{Round: &tare.Round{Index: i}}) == nil {
				acknowledged = i
			}
		}
		_ = w.Close()
	}
	w, err := create(d.open, "j", Head{Study: "s"})
	if err != nil {
		return 0
	}
	add(w, 1, 3)
	log, w, err := resume(d.open, "j")
	if err != nil {
		return acknowledged
	}
	add(w, len(log.Rounds)+1, len(log.Rounds)+2)
	return acknowledged
}

// Whatever operation fails, and however, the rounds whose end was acknowledged are
// in the journal, and it can be read.
func TestNoFaultLosesARound(t *testing.T) {
	faults := []fault{
		{name: "EIO", err: syscall.EIO},
		{name: "ENOSPC", err: syscall.ENOSPC},
		{name: "short write", err: syscall.ENOSPC, short: true},
		{name: "EINTR", err: syscall.EINTR},
		{name: "killed", err: errors.New("killed"), short: true, crash: true},
		{name: "power loss", err: errors.New("power loss"), crash: true},
		{name: "power loss, and a hole", err: errors.New("power loss"), crash: true},
	}
	whole := &faultDisk{}
	if n := keepRounds(whole); n != 5 {
		t.Fatalf("%d rounds without a fault", n)
	}
	injected := 0
	for _, f := range faults {
		for at := 1; at <= whole.count; at++ {
			injected++
			d := &faultDisk{fault: f, at: at}
			acknowledged := keepRounds(d)
			switch f.name {
			case "power loss":
				d.data = d.data[:d.synced]
			case "power loss, and a hole": // a later page was written back, an earlier one was not
				clear(d.data[d.synced : d.synced+(len(d.data)-d.synced)/2])
			}
			d.at, d.down = 0, false
			log, err := readFile(d.open, "j")
			if acknowledged == 0 && err != nil {
				continue
			}
			if err != nil || len(log.Rounds) < acknowledged {
				t.Errorf("%s at operation %d of %d: %d rounds were acknowledged, read %+v, %v", f.name, at, whole.count, acknowledged, log, err)
				continue
			}
			if len(log.Slices) != len(log.Rounds) {
				t.Errorf("%s at operation %d: %d rounds with %d slices", f.name, at, len(log.Rounds), len(log.Slices))
			}
			for i, r := range log.Rounds {
				if r.Index != i+1 {
					t.Errorf("%s at operation %d: round %d is %d", f.name, at, i+1, r.Index)
				}
			}
		}
	}
	t.Logf("%d faults at %d operations", injected, whole.count)
}

// Every changed byte is found, and a journal without checksums is still read.
func TestChangedBytesAreFound(t *testing.T) {
	d := &faultDisk{}
	keepRounds(d)
	for i := range d.data {
		for _, bit := range []byte{1, 0x20} {
			changed := bytes.Clone(d.data)
			changed[i] ^= bit
			log, err := read("j", bytes.NewReader(changed), mostLine)
			last := i == len(d.data)-1 // without its end the last line is torn
			if err == nil && !(last && len(log.Rounds) == 4) {
				t.Fatalf("byte %d of %d, bit %#x: read %d rounds", i, len(d.data), bit, len(log.Rounds))
			}
		}
	}
	for i := range bytes.LastIndex(d.data, []byte(`{"slice"`)) - 1 { // two rounds follow
		changed := bytes.Clone(d.data)
		changed[i] = 0
		if _, err := read("j", bytes.NewReader(changed), mostLine); err == nil {
			t.Fatalf("byte %d of %d is zero: read", i, len(d.data))
		}
	}
	var old bytes.Buffer
	for line := range bytes.Lines(d.data) {
		fmt.Fprintf(&old, "%s}\n", line[:len(line)-1-sumLen])
	}
	d = &faultDisk{exists: true, data: old.Bytes()}
	_, w, err := resume(d.open, "j")
	if err != nil || w.Append(Entry{Round: &tare.Round{Index: 6}}) != nil {
		t.Fatalf("without checksums: %v", err)
	}
	if log, err := readFile(d.open, "j"); err != nil || len(log.Rounds) != 6 {
		t.Errorf("without checksums, resumed: %v", err)
	}
	d = &faultDisk{}
	keepRounds(d)
	mixed := append(d.data, []byte(`{"round":{"index":6}}`+"\n")...)
	if _, err := read("j", bytes.NewReader(mixed), mostLine); err == nil {
		t.Error("a line without a checksum in a journal with them was read")
	}
	path := filepath.Join(t.TempDir(), FileName)
	w, err = Create(path, Head{Study: "s"})
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	if log, err := Read(path); err != nil || log.Head.Study != "s" {
		t.Error(err)
	}
}
