package trial

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tarebench/tare/internal/format"
)

// output reads stdout and stderr of a measured program, called contender. It counts the bytes and
// saves the last ones. It reads everything, so that the contender never waits to print.
type output struct {
	stdout, stderr stream
	total          atomic.Int64 // number of bytes read from both
}

// stream is stdout or stderr.
type stream struct {
	ours, child *os.File      // this process reads ours, and the contender inherits child
	done        chan struct{} // closed at the end of file

	tailSize int // number of last bytes to save

	mu    sync.Mutex
	bytes int64  // number of bytes read
	tail  []byte // last bytes, up to four times tailSize
}

// tailBytes is the default of tailSize.
const tailBytes = 4 << 10

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

func (o *output) closeChildEnds() {
	_ = o.stdout.child.Close() // fails if the file is nil
	_ = o.stderr.child.Close()
}

func (o *output) closeOurEnds() {
	_ = o.stdout.ours.Close()
	_ = o.stderr.ours.Close()
}

// readAll starts to read both streams to their ends. It calls exceeded once, when they have more than
// limit bytes together.
func (o *output) readAll(limit int64, exceeded func()) {
	var once sync.Once
	for _, s := range []*stream{&o.stdout, &o.stderr} {
		go func() {
			defer close(s.done)
			buf := make([]byte, 32<<10)
			for {
				n, err := s.ours.Read(buf)
				s.addBytes(buf[:n])
				if o.total.Add(int64(n)) > limit {
					once.Do(exceeded)
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

// sizeAndTail returns the number of bytes so far and the last ones, as valid UTF-8.
func (s *stream) sizeAndTail() (size int64, tail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes, strings.ToValidUTF8(string(s.tail[max(0, len(s.tail)-s.tailSize):]), "\uFFFD")
}

// awaitEnd waits until both streams have ended, but at most for limit. Another process may have them
// open.
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

// likelyCause returns the line of stderr that most likely explains a failure. It is the first line of
// a Go panic, or else the last line.
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
