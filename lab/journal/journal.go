// Package journal writes the measurements of a study to a file while it runs. A slice is one timed run
// of a contender on a workload. It becomes one JSON line before the next slice starts. A killed run
// loses at most the unfinished round. A resumed run continues after the last complete round.
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

// Format is the name of the version of the journal's lines.
const Format = "tare.journal/1"

// maxLine is the largest length of a line in bytes. Real lines are far shorter. The limit keeps a file
// without line ends from filling the memory.
const maxLine = 64 << 20

// FileName is the journal's name in a run's directory.
const FileName = "journal.ndjson"

// Head is the first line. It identifies the study and the run.
type Head struct {
	Format      string            `json:"format"`
	Study       string            `json:"study"`       // id
	Fingerprint string            `json:"fingerprint"` // hash of the study and the binaries; must be equal to resume
	Options     map[string]string `json:"options"`     // options as the user sees them; must be equal to resume
	Started     string            `json:"started"`     // RFC 3339
}

// Entry is one line; exactly one field is set. A round comes last, after its slices and its trials, the
// processes of its contenders.
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
	failed error // nothing is written after it, because lines after a torn line are not read
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

// Append writes one line in one write, so that a kill leaves at most one torn line, at the end. The end
// of a round or of the study is synced to the disk. After an error, every later call returns the same
// error.
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
	Trials      []tare.Trial // trials of complete rounds, and failed ones before the rounds
	Done        *Done        // nil if the study has not ended
	Lost        int          // number of omitted slices, of the unfinished round

	validSize int64 // without the lines of the unfinished round
	sums      bool  // all lines have checksums; otherwise none has
}

// Begun reports whether the journal at path has a complete first line. Without one, a run cannot be
// resumed. A missing file is not an error.
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

// Read reads the journal at path. It omits the unfinished round, and lines that a kill or a loss of
// power has damaged. Any other invalid line is an error with the number of the line.
func Read(path string) (*Log, error) { return readFile(atomicfile.System{}, path) }

func readFile(d atomicfile.Disk, path string) (*Log, error) {
	f, err := d.OpenFile(path, atomicfile.ReadOnly)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	return readLog(path, f, maxLine)
}

// readLog reads a journal whose lines have at most maxLen bytes. It returns a read error, and does
// not treat it like a torn line: a disk that fails for a moment must not cost rounds.
func readLog(path string, journal io.Reader, maxLen int) (*Log, error) {
	r := &logReader{path: path, input: bufio.NewReaderSize(journal, 1<<16), maxLen: maxLen}
	for {
		more, err := r.readEntry()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	if r.log.Head.Format == "" {
		return nil, fmt.Errorf("%s:1: journal without a head", path)
	}
	r.log.Lost = len(r.slices)
	return &r.log, nil
}

type logReader struct {
	path    string // path for errors
	input   *bufio.Reader
	maxLen  int // maximum length of a line in bytes
	log     Log
	slices  []tare.Slice // slices of the unfinished round
	trials  []tare.Trial // trials of the unfinished round
	offset  int64        // end of the last line
	lineNum int          // number of the last line, from 1
}

// readEntry reads a line and adds its entry to the log. It returns false at the end of the log,
// which may be a torn or damaged line.
func (r *logReader) readEntry() (ok bool, err error) {
	line, err := readLine(r.input, r.maxLen)
	switch {
	case errors.Is(err, errLong):
		return false, fmt.Errorf("%s:%d: %w of %d bytes", r.path, r.lineNum+1, err, r.maxLen)
	case errors.Is(err, io.EOF): // possibly in a torn line
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read journal: %w", err)
	}
	r.lineNum++
	r.offset += int64(len(line))
	hasSum, intact := checkSum(line)
	if r.lineNum == 1 {
		r.log.sums = hasSum
	}
	if !intact || hasSum != r.log.sums {
		isUnsynced, err := r.log.isUnsyncedEnd(line, r.input, r.maxLen)
		if err != nil {
			return false, fmt.Errorf("read journal: %w", err)
		}
		if !isUnsynced {
			return false, fmt.Errorf("%s:%d: damaged: the line does not match its checksum", r.path, r.lineNum)
		}
		return false, nil
	}
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return false, fmt.Errorf("%s:%d: not a journal line: %w", r.path, r.lineNum, err)
	}
	if e.Head != nil && e.Head.Format != Format {
		return false, fmt.Errorf("%s:%d: journal format %q; this tare reads %s", r.path, r.lineNum, e.Head.Format, Format)
	}
	r.addEntry(e)
	return true, nil
}

// addEntry adds e, the entry of the last line, to the log or to the unfinished round.
func (r *logReader) addEntry(e Entry) {
	log, isValid := &r.log, true // isValid: the file may end after this line
	switch {
	case e.Head != nil:
		log.Head = *e.Head
	case e.Conformance != nil:
		log.Conformance = e.Conformance
	case e.Pilots != nil:
		log.Pilots = e.Pilots
	case e.Exams != nil:
		log.Exams = e.Exams
	case e.Plan != nil:
		log.Plan = e.Plan
		log.Trials, r.trials = append(log.Trials, r.trials...), nil // trials before the plan failed in the pilot
	case e.Slice != nil:
		r.slices = append(r.slices, *e.Slice)
		isValid = false
	case e.Trial != nil:
		r.trials = append(r.trials, *e.Trial)
		isValid = false
	case e.Round != nil:
		log.Rounds = append(log.Rounds, *e.Round)
		log.Slices = append(log.Slices, r.slices...)
		log.Trials = append(log.Trials, r.trials...)
		r.slices, r.trials, log.Done = nil, nil, nil
	case e.Done != nil:
		log.Done = e.Done
	}
	if isValid {
		log.validSize = r.offset
	}
}

// isUnsyncedEnd reports whether a damaged line begins a part that was not synced when the power was
// lost. A file system may have written later pages but not earlier ones, which are zero. The end of a
// round is synced before any later line is written. So all lines that follow must belong to the
// unfinished round.
func (l *Log) isUnsyncedEnd(damaged []byte, input *bufio.Reader, maxLen int) (isUnsynced bool, err error) {
	if bytes.IndexByte(damaged, 0) < 0 {
		return false, nil
	}
	unfinished := 1 // index of the unfinished round
	hasEnd := false // its end has been read
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

func readLine(input *bufio.Reader, maxLen int) (line []byte, err error) {
	for {
		part, err := input.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLen {
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
