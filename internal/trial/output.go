package trial

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tarebench/tare/internal/format"
)

// output is what a contender prints. All of it is read, so that a contender
// never waits for us; it is counted, and the end is kept.
type output struct {
	stdout, stderr stream
	total          atomic.Int64
}

// stream is one of the two.
type stream struct {
	ours, child *os.File
	done        chan struct{} // end of file

	kept int // bytes of the end that are kept

	mu    sync.Mutex
	bytes int64
	tail  []byte // the last kept ones at least
}

// tailBytes is how much of a stream's end is kept, where a Spec does not ask for more.
const tailBytes = 4 << 10

// newOutput makes both streams pipes, or stdout a terminal.
func newOutput(onTerminal bool) (*output, error) {
	o := &output{}
	for _, s := range []*stream{&o.stdout, &o.stderr} {
		var err error
		s.done, s.kept = make(chan struct{}), tailBytes
		open := os.Pipe
		if onTerminal && s == &o.stdout {
			open = terminal
		}
		if s.ours, s.child, err = open(); err != nil {
			o.started()
			o.abandon()
			return nil, err
		}
	}
	return o, nil
}

// started closes the contender's ends here.
func (o *output) started() {
	_ = o.stdout.child.Close() // of a nil file: an error, no harm
	_ = o.stderr.child.Close()
}

// abandon closes our ends.
func (o *output) abandon() {
	_ = o.stdout.ours.Close()
	_ = o.stderr.ours.Close()
}

// drain reads both streams until they end. over is called once when they have
// brought more than limit bytes together.
func (o *output) drain(limit int64, over func()) {
	var once sync.Once
	for _, s := range []*stream{&o.stdout, &o.stderr} {
		go func() {
			defer close(s.done)
			buf := make([]byte, 32<<10)
			for {
				n, err := s.ours.Read(buf)
				s.keep(buf[:n])
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

func (s *stream) keep(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += int64(len(b))
	s.tail = append(s.tail, b[max(0, len(b)-s.kept):]...)
	if len(s.tail) > 4*s.kept {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-s.kept:]...)
	}
}

// read returns how much came and the end of it.
func (s *stream) read() (int64, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes, strings.ToValidUTF8(string(s.tail[max(0, len(s.tail)-s.kept):]), "\uFFFD")
}

// settle waits until both streams have ended, but not longer than limit:
// somebody else may hold them open.
func (o *output) settle(limit time.Duration) {
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

// lastWords is the line of stderr that most likely says what went wrong: that
// of a Go panic, which is followed by a stack, or else the last one.
func (o *output) lastWords() string {
	_, tail := o.stderr.read()
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
