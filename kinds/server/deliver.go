package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load"
)

// This file counts the items that a server has delivered to files or to another server. For example,
// of 1000 acknowledged events only 990 have arrived.

const (
	arrivalLimit = 15 * time.Second      // limit for acknowledged items to arrive
	countEvery   = 50 * time.Millisecond // interval of counts while items arrive
)

// delivery counts the items, one on each line, that a command has delivered. A command is a server
// that tare starts with the user's command line.
type delivery interface {
	count() (int64, error)
}

var (
	_ delivery = (*lineCounter)(nil)
	_ delivery = (*destination)(nil)
)

// lineCounter counts complete lines over all files that match a pattern. It reads each once.
type lineCounter struct {
	pattern string
	files   map[string]*countedFile // by path
}

type countedFile struct {
	info  os.FileInfo
	read  int64 // bytes read so far
	lines int64 // lines in these bytes
}

func (l *lineCounter) count() (int64, error) {
	paths, err := filepath.Glob(l.pattern)
	if err != nil {
		return 0, err
	}
	current := make(map[string]*countedFile, len(paths))
	var sum int64
	for _, path := range paths {
		f, err := l.files[path].readMore(path) // the receiver may be nil
		if errors.Is(err, os.ErrNotExist) {    // the file was moved after Glob
			continue
		}
		if err != nil {
			return 0, err
		}
		current[path] = f
		sum += f.lines
	}
	l.files = current
	return sum, nil
}

// readMore counts the lines that were added since c. It starts over if c is nil, or if another file
// has taken the path.
func (c *countedFile) readMore(path string) (*countedFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	next := &countedFile{info: info}
	if info.IsDir() {
		return next, nil
	}
	continues := c != nil && os.SameFile(c.info, info) && info.Size() >= c.read // not rotated or truncated
	if continues {
		next.read, next.lines = c.read, c.lines
		if _, err := f.Seek(c.read, io.SeekStart); err != nil {
			return nil, err
		}
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		next.read += int64(n)
		next.lines += int64(bytes.Count(buf[:n], []byte{'\n'}))
		if errors.Is(err, io.EOF) {
			return next, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// awaitArrival waits until as many lines as acknowledged have arrived since w was prepared. It
// returns the number that arrived within the arrival time.
func (c *conn) awaitArrival(ctx context.Context, w *work, acknowledged int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, c.kind.arrival)
	defer cancel()
	for {
		isLast := ctx.Err() != nil
		select {
		case <-c.process.Exited():
			isLast = true
		default:
		}
		total, err := c.delivery.count()
		arrived := total - w.arrived
		if err != nil || isLast || arrived >= acknowledged {
			return arrived, err
		}
		waitUntil(ctx, countEvery, c.process.Exited())
	}
}

// addDelivered adds to s the numbers of arrived and of acknowledged events. reported is the number
// of arrived events that a program has reported. If the number is unknown, nothing is added.
func (c *conn) addDelivered(s tare.Sample, sent load.Totals, reported int64) {
	w := c.work
	delivered := reported
	switch {
	case w.items == 0:
		return
	case c.delivery != nil:
		n, err := c.awaitArrival(c.ctx, w, sent.Acked)
		if err != nil {
			return
		}
		delivered = n
	case c.program == nil || !w.app.Delivers || w.strictness != strictAll: // nothing is reported
		return
	}
	s[tare.KeyDelivered], s[tare.KeyDeliveredAsked] = float64(delivered), float64(sent.Acked)
}
