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
	_ delivery = (*lines)(nil)
	_ delivery = (*destination)(nil)
)

// lines counts whole lines, over all files that match a pattern. What was
// counted is not read again.
type lines struct {
	pattern string
	files   map[string]*counted // by path
}

// counted is a file as far as it was read.
type counted struct {
	info  os.FileInfo
	read  int64 // bytes
	lines int64
}

// count is how many lines there are now.
func (l *lines) count() (int64, error) {
	paths, err := filepath.Glob(l.pattern)
	if err != nil {
		return 0, err
	}
	now := make(map[string]*counted, len(paths))
	var sum int64
	for _, path := range paths {
		f, err := l.files[path].more(path)
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

// more reads on where the file at path was read to, or from its beginning where
// it is another one by now. c is nil where it was not there.
func (c *counted) more(path string) (*counted, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	next := &counted{info: info}
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

// arrived waits until as many lines have come as were acknowledged since w was
// prepared, or for so long, and returns how many there are. What comes later
// has not come.
func (c *conn) arrived(ctx context.Context, w *work, acknowledged int64) (int64, error) {
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
		pause(ctx, countEvery, c.process.Exited())
	}
}

// delivered adds what has arrived behind the server, where somebody can tell,
// beside what it acknowledged. told is what a program says.
func (c *conn) delivered(s tare.Sample, sent load.Totals, told int64) {
	w := c.work
	switch {
	case w.items == 0:
		return
	case c.delivery != nil:
		n, err := c.arrived(c.ctx, w, sent.Acked)
		if err != nil {
			return
		}
		told = n
	case c.program == nil || !w.app.Delivers || w.held != holdWhole:
		return
	}
	s[tare.KeyDelivered], s[tare.KeyDeliveredAsked] = float64(told), float64(sent.Acked)
}
