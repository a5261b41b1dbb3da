// Package journal writes the slices of a study to a file while they are measured: each slice is one
// JSON line, written before the next slice starts. A killed run loses at most the unfinished round; a
// resumed run continues after the last complete round.
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

// maxLine is the largest length of a line in bytes, including its checksum. The longest lines of a
// study are far shorter. The limit keeps a file without line ends from filling the memory.
const maxLine = 64 << 20

// FileName is the journal's name in a run's directory.
const FileName = "journal.ndjson"

// Head is the first line. It identifies the study and the run.
type Head struct {
	Format      string            `json:"format"`
	Study       string            `json:"study"`       // id
	Fingerprint string            `json:"fingerprint"` // hash of the study and the binaries; only a run with the same hash resumes the journal
	Options     map[string]string `json:"options"`     // options as the user sees them; only a run with the same options resumes the journal
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

// Exams contains the results of contenders outside the rounds.
type Exams struct {
	Semantics []tare.Semantics         `json:"semantics"`
	Adoption  map[string]tare.Adoption `json:"adoption"` // start time and idle memory, by contender id
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
	plain  bool  // write no checksums: an earlier version of tare began the journal
	failed error // first error; after it nothing is written, because lines after a torn line are not read
}

// Create starts a journal at path, which must not exist.
func Create(path string, head Head) (*Writer, error) {
	return createFile(atomicfile.System{}, path, head)
}

func createFile(d atomicfile.Disk, path string, head Head) (*Writer, error) {
	f, err := d.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND)
	if err != nil {
		return nil, fmt.Errorf("start journal: %w", err)
	}
	// Without this, a loss of power can lose the name of a file whose rounds are on the disk.
	if err := d.SyncDir(filepath.Dir(path)); err != nil {
		f.Close()
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

// Append writes one line in one write, so that a kill leaves at most one torn line, at the end. If e is
// the end of a round or of the study, it also syncs the file to the disk. After an error, every later
// call returns the same error.
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

// Log is the content of a journal. It only contains complete rounds.
type Log struct {
	Head        Head
	Conformance []tare.Conformance
	Pilots      []tare.Pilot
	Exams       *Exams
	Plan        *tare.Plan
	Rounds      []tare.Round
	Slices      []tare.Slice
	Trials      []tare.Trial // of complete rounds, and trials that failed in the pilot
	Done        *Done        // nil if the study has not ended
	Lost        int          // number of omitted slices, of the unfinished round

	validSize int64 // size of the file without the lines of the unfinished round
	sums      bool  // all lines have checksums; otherwise none has
}

// Begun reports whether the journal at path has a complete first line. A run that was killed before it
// wrote one cannot be resumed. If there is no file, Begun returns false without an error.
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
	if err != nil && !errors.Is(err, errLong) { // Read reports a line that is too long
		return false, fmt.Errorf("read journal: %w", err)
	}
	return true, nil
}

// Read reads the journal at path. It omits the unfinished round, a torn last line, and lines of the
// unfinished round that a loss of power has damaged. Any other invalid line is an error with the number
// of the line.
func Read(path string) (*Log, error) { return readFile(atomicfile.System{}, path) }

func readFile(d atomicfile.Disk, path string) (*Log, error) {
	f, err := d.OpenFile(path, atomicfile.ReadOnly)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	return readLog(path, f, maxLine)
}

// readLog reads a journal whose lines have at most maxLen bytes. A read error is returned and not
// treated like a torn line: otherwise a disk that cannot be read for a moment would cost the rounds
// that follow.
func readLog(path string, from io.Reader, maxLen int) (*Log, error) {
	var (
		log     Log
		slices  []tare.Slice // of the round that is being read
		trials  []tare.Trial // of the round that is being read
		input   = bufio.NewReaderSize(from, 1<<16)
		offset  int64
		lineNum int
	)
lines:
	for {
		line, err := readLine(input, maxLen)
		if errors.Is(err, errLong) {
			return nil, fmt.Errorf("%s:%d: %w of %d bytes", path, lineNum+1, err, maxLen)
		}
		if errors.Is(err, io.EOF) { // the end, possibly in a torn line
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read journal: %w", err)
		}
		lineNum++
		offset += int64(len(line))
		hasSum, intact := checkSum(line)
		if lineNum == 1 {
			log.sums = hasSum
		}
		if !intact || hasSum != log.sums {
			isUnsynced, err := log.isUnsyncedEnd(line, input, maxLen)
			if err != nil {
				return nil, fmt.Errorf("read journal: %w", err)
			}
			if isUnsynced {
				break lines
			}
			return nil, fmt.Errorf("%s:%d: damaged: the line does not match its checksum", path, lineNum)
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%s:%d: not a journal line: %w", path, lineNum, err)
		}
		isValid := true // the file may end after this line
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
			log.Trials, trials = append(log.Trials, trials...), nil // trials before the plan failed in the pilot
		case e.Slice != nil:
			slices = append(slices, *e.Slice)
			isValid = false
		case e.Trial != nil:
			trials = append(trials, *e.Trial)
			isValid = false
		case e.Round != nil:
			log.Rounds = append(log.Rounds, *e.Round)
			log.Slices = append(log.Slices, slices...)
			log.Trials = append(log.Trials, trials...)
			slices, trials, log.Done = nil, nil, nil
		case e.Done != nil:
			log.Done = e.Done
		}
		if isValid {
			log.validSize = offset
		}
	}
	if log.Head.Format == "" {
		return nil, fmt.Errorf("%s:1: journal without a head", path)
	}
	log.Lost = len(slices)
	return &log, nil
}

// isUnsyncedEnd reports whether a damaged line begins a part of the file that was not synced when the
// power was lost. A file system may then have written later pages but not earlier ones, which are zero.
// In this case all lines that follow must belong to the unfinished round, because the end of a round
// is synced before any later line is written. The line of its end may be the last one.
func (l *Log) isUnsyncedEnd(damaged []byte, input *bufio.Reader, maxLen int) (bool, error) {
	if bytes.IndexByte(damaged, 0) < 0 {
		return false, nil
	}
	unfinished, hasEnd := 1, false
	if n := len(l.Rounds); n > 0 {
		unfinished = l.Rounds[n-1].Index + 1
	}
	for {
		line, err := readLine(input, maxLen)
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case errors.Is(err, errLong), err == nil && hasEnd:
			return false, nil
		case err != nil:
			return false, err
		}
		var e Entry
		if hasSum, intact := checkSum(line); !hasSum || !intact || json.Unmarshal(line, &e) != nil {
			continue // another damaged line
		}
		round := 0
		switch {
		case e.Slice != nil:
			round = e.Slice.Round
		case e.Trial != nil:
			round = e.Trial.Round
		case e.Round != nil:
			round, hasEnd = e.Round.Index, true
		case e.Done != nil:
			return false, nil
		}
		if round > unfinished {
			return false, nil
		}
	}
}

var errLong = errors.New("a line that is longer than the longest")

// readLine reads a line including its newline. It returns errLong if the line has more than maxLen
// bytes.
func readLine(input *bufio.Reader, maxLen int) (line []byte, err error) {
	for {
		part, err := input.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLen {
			return nil, errLong
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Resume reads the journal at path, cuts off the unfinished round and opens the file for appending.
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
