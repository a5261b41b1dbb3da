// Package journal writes a study's slices to disk as they are measured: one JSON line each, before
// the next token is handed out. A killed run loses at most the round in flight; a resumed one
// continues after the last complete round.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/atomicfile"
)

// Format names the version of the journal's lines.
const Format = "tare.journal/1"

// maxLine is the maximum length of a line in bytes, with its checksum. A study's longest are far
// shorter; a file without line ends must not fill the memory.
const maxLine = 64 << 20

// FileName is the journal's name in a run's directory.
const FileName = "journal.ndjson"

// Head is the first line: what the journal belongs to.
type Head struct {
	Format      string            `json:"format"`
	Study       string            `json:"study"`
	Fingerprint string            `json:"fingerprint"` // of study, binaries and options; a journal is resumed only by its equal
	Options     map[string]string `json:"options"`     // as requested, for messages
	Started     string            `json:"started"`     // RFC 3339
}

// Entry is one line; exactly one field is set.
type Entry struct {
	Head        *Head              `json:"head,omitempty"`
	Conformance []tare.Conformance `json:"conformance,omitempty"`
	Pilots      []tare.Pilot       `json:"pilots,omitempty"`
	Exams       *Exams             `json:"exams,omitempty"`
	Plan        *tare.Plan         `json:"plan,omitempty"`
	Slice       *tare.Slice        `json:"slice,omitempty"`
	Trial       *tare.Trial        `json:"trial,omitempty"`
	Round       *tare.Round        `json:"round,omitempty"` // the round is complete
	Done        *Done              `json:"done,omitempty"`  // the study is over
}

// Exams holds the results of contenders outside the rounds.
type Exams struct {
	Semantics []tare.Semantics         `json:"semantics"`
	Adoption  map[string]tare.Adoption `json:"adoption"` // by contender: start and idle memory
}

// Done states how a study ended.
type Done struct {
	Stopped string  `json:"stopped"`
	Seconds float64 `json:"seconds"`
}

// Writer appends to a journal.
type Writer struct {
	file   atomicfile.Handle
	buf    bytes.Buffer
	plain  bool  // without checksums, as an earlier version began it
	failed error // the error that ended it: a line after a torn one could not be read
}

// Create starts a journal at path, which must not exist.
func Create(path string, head Head) (*Writer, error) {
	return createFile(atomicfile.System{}, path, head)
}

func createFile(d atomicfile.Disk, path string, head Head) (*Writer, error) {
	f, err := d.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND)
	if err == nil {
		if err = d.SyncDir(filepath.Dir(path)); err != nil { // or its rounds are on the disk, and its name is not
			f.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("start journal: %w", err)
	}
	w := &Writer{file: f}
	head.Format = Format
	if err := w.Append(Entry{Head: &head}); err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

// Append writes one line in one write, so that a kill leaves at most one torn
// line at the end. The end of a round, and of the study, is on the disk when it
// returns. After an error every further call returns it again.
func (w *Writer) Append(e Entry) error {
	if w.failed == nil {
		if err := w.writeEntry(e); err != nil {
			w.failed = fmt.Errorf("write journal: %w", err)
		}
	}
	return w.failed
}

func (w *Writer) writeEntry(e Entry) error {
	w.buf.Reset()
	if err := json.NewEncoder(&w.buf).Encode(e); err != nil {
		return err
	}
	line := w.buf.Bytes()
	if !w.plain {
		line = addSum(line)
	}
	if len(line) > maxLine {
		return fmt.Errorf("an entry of %d bytes; at most %d", len(line), maxLine)
	}
	if _, err := w.file.Write(line); err != nil {
		return err
	}
	if e.Round == nil && e.Done == nil {
		return nil
	}
	return w.file.Sync()
}

// Close closes the file.
func (w *Writer) Close() error { return w.file.Close() }

// Log is the content of a journal: complete rounds only.
type Log struct {
	Head        Head
	Conformance []tare.Conformance
	Pilots      []tare.Pilot
	Exams       *Exams
	Plan        *tare.Plan
	Rounds      []tare.Round
	Slices      []tare.Slice
	Trials      []tare.Trial // of complete rounds
	Done        *Done
	Lost        int // slices of the round in flight, omitted

	validSize int64 // bytes up to the end of the last complete entry that counts
	sums      bool  // its lines have checksums: all of them, or none
}

// Begun reports whether the journal at path has a complete first line. A run that was killed before
// that has nothing to resume. A missing file is no error.
func Begun(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	_, err = readLine(bufio.NewReader(f), maxLine)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil && !errors.Is(err, errLong) { // a line too long is damage, which Read reports
		return false, fmt.Errorf("read journal: %w", err)
	}
	return true, nil
}

// Read reads the journal at path. It omits a torn last line, and what a loss of power
// left of a round in flight; anything else that is not the format is an error naming
// the line.
func Read(path string) (*Log, error) { return readFile(atomicfile.System{}, path) }

func readFile(d atomicfile.Disk, path string) (*Log, error) {
	f, err := d.OpenFile(path, atomicfile.ReadOnly)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	return readLog(path, f, maxLine)
}

// readLog reads a journal. A read error is no torn line: a disk that cannot be read must not cost
// the rounds that follow.
func readLog(path string, from io.Reader, most int) (*Log, error) {
	var (
		log     Log
		slices  []tare.Slice
		trials  []tare.Trial
		in      = bufio.NewReaderSize(from, 1<<16)
		offset  int64
		lineNum int
	)
lines:
	for {
		line, err := readLine(in, most)
		if errors.Is(err, errLong) {
			return nil, fmt.Errorf("%s:%d: %w of %d bytes", path, lineNum+1, err, most)
		}
		if errors.Is(err, io.EOF) { // the end, or a line that was never finished
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read journal: %w", err)
		}
		lineNum++
		offset += int64(len(line))
		sealed, intact := checkSum(line)
		if lineNum == 1 {
			log.sums = sealed
		}
		if !intact || sealed != log.sums {
			unsynced, err := log.endsIn(line, in, most)
			if err != nil {
				return nil, fmt.Errorf("read journal: %w", err)
			}
			if unsynced {
				break lines
			}
			return nil, fmt.Errorf("%s:%d: damaged: the line does not match its checksum", path, lineNum)
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%s:%d: not a journal line: %w", path, lineNum, err)
		}
		keep := true
		switch {
		case e.Head != nil:
			if e.Head.Format != Format {
				return nil, fmt.Errorf("%s:%d: journal format %q; this tare reads %s", path, lineNum, e.Head.Format, Format)
			}
			log.Head = *e.Head
		case e.Conformance != nil:
			log.Conformance = e.Conformance
		case e.Pilots != nil:
			log.Pilots = e.Pilots
		case e.Exams != nil:
			log.Exams = e.Exams
		case e.Plan != nil:
			log.Plan = e.Plan
			log.Trials, trials = append(log.Trials, trials...), nil // failed in the pilot
		case e.Slice != nil:
			slices = append(slices, *e.Slice)
			keep = false
		case e.Trial != nil:
			trials = append(trials, *e.Trial)
			keep = false
		case e.Round != nil:
			log.Rounds = append(log.Rounds, *e.Round)
			log.Slices = append(log.Slices, slices...)
			log.Trials = append(log.Trials, trials...)
			slices, trials, log.Done = nil, nil, nil
		case e.Done != nil:
			log.Done = e.Done
		}
		if keep {
			log.validSize = offset
		}
	}
	if log.Head.Format == "" {
		return nil, fmt.Errorf("%s:1: journal without a head", path)
	}
	log.Lost = len(slices)
	return &log, nil
}

// endsIn reports whether a damaged line begins the part that was not synced when the power was
// lost. A file system may write later pages and not earlier ones, which are zero then. All that
// follows is of the round in flight: bytes after the end of a round are written when that is
// synced.
func (l *Log) endsIn(damaged []byte, in *bufio.Reader, most int) (bool, error) {
	if bytes.IndexByte(damaged, 0) < 0 {
		return false, nil
	}
	next, over := 1, false
	if n := len(l.Rounds); n > 0 {
		next = l.Rounds[n-1].Index + 1
	}
	for {
		line, err := readLine(in, most)
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case errors.Is(err, errLong), err == nil && over:
			return false, nil
		case err != nil:
			return false, err
		}
		var e Entry
		if sealed, intact := checkSum(line); !sealed || !intact || json.Unmarshal(line, &e) != nil {
			continue
		}
		round := 0
		switch {
		case e.Slice != nil:
			round = e.Slice.Round
		case e.Trial != nil:
			round = e.Trial.Round
		case e.Round != nil:
			round, over = e.Round.Index, true
		case e.Done != nil:
			return false, nil
		}
		if round > next {
			return false, nil
		}
	}
}

var errLong = errors.New("a line that is longer than the longest")

// readLine reads a line of at most most bytes, with its end.
func readLine(in *bufio.Reader, most int) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > most {
			return nil, errLong
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Resume reads the journal at path, cuts off the round in flight and opens it
// for appending.
func Resume(path string) (*Log, *Writer, error) { return resumeFile(atomicfile.System{}, path) }

func resumeFile(d atomicfile.Disk, path string) (*Log, *Writer, error) {
	log, err := readFile(d, path)
	if err != nil {
		return nil, nil, err
	}
	f, err := d.OpenFile(path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return nil, nil, fmt.Errorf("resume journal: %w", err)
	}
	if err := f.Truncate(log.validSize); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("resume journal: %w", err)
	}
	return log, &Writer{file: f, plain: !log.sums}, nil
}
