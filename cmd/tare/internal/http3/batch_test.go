package http3

import (
	"errors"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

// recordingStream records the calls of a batch. Its Write first calls onWrite, if that is set.
type recordingStream struct {
	onWrite  func()
	err      error // of Write
	isSilent bool  // it records no text, which allocates
	text     string
	closed   int
}

func (s *recordingStream) Write(b []byte) (int, error) {
	if s.onWrite != nil {
		s.onWrite()
	}
	if !s.isSilent {
		s.text += string(b)
	}
	return len(b), s.err
}

func (s *recordingStream) Close() error { s.closed++; return nil }

// While a goroutine sends, others leave their requests to it. Each is sent once, as it was when it was passed,
// although the caller reuses its memory. A stream that fails is not closed.
func TestBatch(t *testing.T) {
	var batch sendBatch
	memory := []byte("second")
	first, second, failing, last := &recordingStream{}, &recordingStream{}, &recordingStream{err: errors.New("cancelled")}, &recordingStream{}
	first.onWrite = func() {
		batch.sendRequest(second, memory) // returns at once, although the batch is sending
		copy(memory, "others")
		batch.sendRequest(failing, []byte("failing"))
		assert.Equal(t, "sent early", second.text, "")
	}
	batch.sendRequest(first, []byte("first"))
	batch.sendRequest(last, []byte("last"))
	for want, s := range map[string]*recordingStream{"first": first, "second": second, "failing": failing, "last": last} {
		assert.Equal(t, want, s.text, want)
		assert.Equal(t, want+" closed", s.closed == 1, s.err == nil)
	}
	silent := &recordingStream{isSilent: true}
	if allocs := testing.AllocsPerRun(100, func() { batch.sendRequest(silent, memory) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
