package sink

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tarebench/tare/internal/atomicfile"
)

// DeadLetters is a file of events that a destination rejected forever, one per line. Write returns after the
// events are on stable storage.
type DeadLetters struct {
	path     string
	maxBytes int64
	now      func() time.Time
	file     atomicfile.Handle
	size     int64
}

// Letter is a line of the file: one rejected event.
type Letter struct {
	Time   time.Time       `json:"time"`
	Sink   string          `json:"sink"`
	Spool  string          `json:"spool"`
	Number uint64          `json:"number"`
	Reason string          `json:"reason"`
	Event  json.RawMessage `json:"event,omitempty"`
	Text   string          `json:"text,omitempty"` // the event, if it is not JSON
}

// ErrDeadLetters means that the file of dead letters has no room.
var ErrDeadLetters = errors.New("the file of dead letters is full")

// OpenDeadLetters opens or creates the file at path. It may have at most maxBytes bytes.
func OpenDeadLetters(path string, maxBytes int64, now func() time.Time) (*DeadLetters, error) {
	return openDeadLetters(atomicfile.System{}, path, maxBytes, now)
}

func openDeadLetters(files atomicfile.Disk, path string, maxBytes int64, now func() time.Time) (*DeadLetters, error) {
	f, err := files.OpenFile(path, atomicfile.Append)
	if err != nil {
		return nil, err
	}
	d := &DeadLetters{path: path, maxBytes: maxBytes, now: now, file: f}
	if d.size, err = f.Size(); err == nil {
		err = d.endLastLine()
	}
	if err == nil {
		err = files.SyncDir(filepath.Dir(path)) // otherwise a power cut could lose the file's name
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return d, nil
}

func (d *DeadLetters) endLastLine() error {
	last := make([]byte, 1)
	if d.size == 0 {
		return nil
	}
	if _, err := d.file.ReadAt(last, d.size-1); err != nil || last[0] == '\n' {
		return err
	}
	n, err := d.file.Write([]byte("\n"))
	d.size += int64(n)
	return err
}

// Write appends the rejected events of a batch, for the sink called name. After an error the file has none of
// them, unless it could not be truncated.
func (d *DeadLetters) Write(name string, b Batch, dead []Dead) error {
	if len(dead) == 0 {
		return nil
	}
	var lines []byte
	for _, rejected := range dead {
		e := b.Events[rejected.Index]
		letter := Letter{Time: d.now().UTC(), Sink: name, Spool: b.Spool.String(), Number: e.Number, Reason: rejected.Reason}
		if json.Valid(e.Line) {
			letter.Event = e.Line
		} else {
			letter.Text = string(e.Line)
		}
		line, err := json.Marshal(letter)
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	if d.size+int64(len(lines)) > d.maxBytes {
		return fmt.Errorf("%w: %s has %d bytes of at most %d", ErrDeadLetters, d.path, d.size, d.maxBytes)
	}
	oldSize := d.size
	n, err := d.file.Write(lines)
	d.size += int64(n)
	if err == nil {
		err = d.file.Sync()
	}
	if err != nil {
		_ = d.file.Truncate(oldSize) // the size below shows a failure
		if size, errSize := d.file.Size(); errSize == nil {
			d.size = size
		}
		return fmt.Errorf("write dead letters: %w", err)
	}
	return nil
}

// Close closes the file.
func (d *DeadLetters) Close() error { return d.file.Close() }
