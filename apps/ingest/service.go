package ingest

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare/apps/ingest/sink"
)

// Config says how the service is to be. Its zero value works.
type Config struct {
	Limit   int              // records in a batch, at most; zero: DefaultLimit
	MaxBody int64            // bytes of a body, as sent and unpacked; zero: DefaultMaxBody
	Token   string           // that requests must carry as Authorization: Bearer; empty: none
	Sink    string           // null, or file:PATH; empty: null
	Fsync   bool             // acknowledged means on stable storage
	Rotate  int64            // bytes after which the file sink begins another file; zero: never
	Now     func() time.Time // names rotated files; nil: they are numbered only
}

// Defaults of a Config.
const (
	DefaultLimit   = 10
	DefaultMaxBody = 1 << 20
)

// Service takes batches. Its methods may be called concurrently.
type Service struct {
	limit   int
	maxBody int64
	token   *[sha256.Size]byte // of the token, so that no length is compared; nil: none is asked for
	sink    sink.Sink          // nil: nothing is kept, so no lines are built
	cut     int64              // bytes of an unfinished line that the sink found
	counts  counters

	unpackers sync.Pool // of *unpacker
	buffers   sync.Pool // of *bytes.Buffer
	lines     sync.Pool // of *[]byte
}

// New opens the sink.
func New(c Config) (*Service, error) {
	if c.Limit < 0 || c.MaxBody < 0 || c.Rotate < 0 {
		return nil, fmt.Errorf("limit %d, max body %d, rotate %d: none of them can be less than 0", c.Limit, c.MaxBody, c.Rotate)
	}
	s := &Service{limit: c.Limit, maxBody: c.MaxBody}
	if s.limit == 0 {
		s.limit = DefaultLimit
	}
	if s.maxBody == 0 {
		s.maxBody = DefaultMaxBody
	}
	if c.Token != "" {
		sum := sha256.Sum256([]byte(c.Token))
		s.token = &sum
	}
	path, file := strings.CutPrefix(c.Sink, "file:")
	switch {
	case c.Sink == "" || c.Sink == "null":
	case file && path != "":
		f, cut, err := sink.Open(path, sink.Options{Fsync: c.Fsync, Rotate: c.Rotate, Now: c.Now})
		if err != nil {
			return nil, err
		}
		s.sink, s.cut = f, cut
	default:
		return nil, fmt.Errorf("sink %q is neither null nor file:PATH", c.Sink)
	}
	return s, nil
}

// Close waits for what is being kept and closes the sink.
func (s *Service) Close() error {
	if s.sink == nil {
		return nil
	}
	return s.sink.Close()
}

// Delivered is how many records the sink has taken.
func (s *Service) Delivered() int64 { return s.counts.records.Load() }

// Cut is how many bytes of an unfinished last line the sink cut off when it was
// opened.
func (s *Service) Cut() int64 { return s.cut }

// MaxBody is how many bytes a body may have, as sent and unpacked.
func (s *Service) MaxBody() int64 { return s.maxBody }

// Limit is how many records a batch may have.
func (s *Service) Limit() int { return s.limit }
