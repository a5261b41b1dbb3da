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

const (
	arrivalLimit = 15 * time.Second // how long what was acknowledged may take to arrive
	countEvery   = 50 * time.Millisecond
)

// delivery counts the items that a command has delivered so far, one a line.
type delivery interface {
	count() (int64, error)
}

var (
	_ delivery = (*lineCounter)(nil)
	_ delivery = (*destination)(nil)
)

// lineCounter counts complete lines over all files that match a pattern. It does not read counted
// lines again.
type lineCounter struct {
	pattern string
	files   map[string]*countedFile // by path
}

// countedFile is a file as far as it was read.
type countedFile struct {
	info  os.FileInfo
	read  int64 // bytes
	lines int64
}

// count returns the current number of lines.
func (l *lineCounter) count() (int64, error) {
	paths, err := filepath.Glob(l.pattern)
	if err != nil {
		return 0, err
	}
	now := make(map[string]*countedFile, len(paths))
	var sum int64
	for _, path := range paths {
		f, err := l.files[path].readMore(path)
		if errors.Is(err, os.ErrNotExist) { // it was moved meanwhile
			continue
		}
		if err != nil {
			return 0, err
		}
		now[path] = f
		sum += f.lines
	}
	l.files = now
	return sum, nil
}

// readMore continues to read the file at path, or starts over if it is another file now. c is nil
// if there was none.
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
	if c != nil && os.SameFile(c.info, info) && info.Size() >= c.read {
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

// awaitArrival waits until as many lines have arrived as were acknowledged since w was prepared, or
// until its time limit, and returns their number. Later lines do not count.
func (c *conn) awaitArrival(ctx context.Context, w *work, acknowledged int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, c.kind.arrival)
	defer cancel()
	for {
		over := ctx.Err() != nil
		select {
		case <-c.process.Exited():
			over = true
		default:
		}
		n, err := c.delivery.count()
		if n -= w.arrived; err != nil || over || n >= acknowledged {
			return n, err
		}
		waitUntil(ctx, countEvery, c.process.Exited())
	}
}

// addDelivered adds the events that have arrived at the destination, if that is known, to those
// acknowledged. told is a program's report.
func (c *conn) addDelivered(s tare.Sample, sent load.Totals, told int64) {
	w := c.work
	switch {
	case w.items == 0:
		return
	case c.delivery != nil:
		n, err := c.awaitArrival(c.ctx, w, sent.Acked)
		if err != nil {
			return
		}
		told = n
	case c.program == nil || !w.app.Delivers || w.strictness != strictAll:
		return
	}
	s[tare.KeyDelivered], s[tare.KeyDeliveredAsked] = float64(told), float64(sent.Acked)
}
