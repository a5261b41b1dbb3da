package trial

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tarebench/tare/internal/format"
)

// output reads what a contender prints. It reads all of it, so that a contender never waits for us,
// counts it, and saves the end.
type output struct {
	stdout, stderr stream
	total          atomic.Int64
}

// stream is stdout or stderr.
type stream struct {
	ours, child *os.File
	done        chan struct{} // end of file

	tailSize int // bytes of the end that are saved

	mu    sync.Mutex
	bytes int64
	tail  []byte // at least the last tailSize bytes
}

// tailBytes is the default size of the saved end of a stream.
const tailBytes = 4 << 10

// newOutput makes both streams pipes, or stdout a terminal.
func newOutput(onTerminal bool) (*output, error) {
	o := &output{}
	for _, s := range []*stream{&o.stdout, &o.stderr} {
		var err error
		s.done, s.tailSize = make(chan struct{}), tailBytes
		open := os.Pipe
		if onTerminal && s == &o.stdout {
			open = openTerminal
		}
		if s.ours, s.child, err = open(); err != nil {
			o.closeChildEnds()
			o.closeOurEnds()
			return nil, err
		}
	}
	return o, nil
}

// closeChildEnds closes the contender's ends in this process.
func (o *output) closeChildEnds() {
	_ = o.stdout.child.Close() // of a nil file: an error, no harm
	_ = o.stderr.child.Close()
}

// closeOurEnds closes the ends of this process.
func (o *output) closeOurEnds() {
	_ = o.stdout.ours.Close()
	_ = o.stderr.ours.Close()
}

// readAll reads both streams until they end. It calls over once when they have brought more than
// limit bytes together.
func (o *output) readAll(limit int64, over func()) {
	var once sync.Once
	for _, s := range []*stream{&o.stdout, &o.stderr} {
		go func() {
			defer close(s.done)
			buf := make([]byte, 32<<10)
			for {
				n, err := s.ours.Read(buf)
				s.addBytes(buf[:n])
				if o.total.Add(int64(n)) > limit {
					once.Do(over)
				}
				if err != nil {
					return
				}
			}
		}()
	}
}

func (s *stream) addBytes(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += int64(len(b))
	s.tail = append(s.tail, b[max(0, len(b)-s.tailSize):]...)
	if len(s.tail) > 4*s.tailSize {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-s.tailSize:]...)
	}
}

// sizeAndTail returns the number of bytes so far, and the end of them.
func (s *stream) sizeAndTail() (int64, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes, strings.ToValidUTF8(string(s.tail[max(0, len(s.tail)-s.tailSize):]), "\uFFFD")
}

// awaitEnd waits until both streams have ended, but not longer than limit: another process may have
// them open.
func (o *output) awaitEnd(limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	for _, s := range []*stream{&o.stdout, &o.stderr} {
		select {
		case <-s.done:
		case <-t.C:
			return
		}
	}
}

// likelyCause returns the line of stderr that most likely names the cause: that of a Go panic,
// which is followed by a stack, or else the last one.
func (o *output) likelyCause() string {
	_, tail := o.stderr.sizeAndTail()
	var last string
	for line := range strings.Lines(tail) {
		line = format.Line(line, format.LineLimit)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
		if line != "" {
			last = line
		}
	}
	return last
}
