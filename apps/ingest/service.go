package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare/apps/ingest/sink"
	"github.com/tarebench/tare/apps/ingest/spool"
)

// Config configures the service. Its zero value works.
type Config struct {
	Limit   int              // records in a batch, at most; 0 means DefaultLimit
	Typed   bool             // decode the 17 fields of [Metadata] and encode them again; false passes on any object as it came
	Binary  bool             // encode the metadata of bodies in protobuf and gob again in that format, not as JSON; only without a sink
	MaxBody int64            // bytes of a body, as sent and unpacked; 0 means DefaultMaxBody
	Trace   bool             // store the traceparent of a request with each of its events
	Token   string           // that requests must carry as Authorization: Bearer; "" if none
	Sink    string           // null, file:PATH or spool:DIR; "" means null
	Fsync   bool             // acknowledged means on stable storage
	Rotate  int64            // bytes after which the file sink begins another file; 0 means never
	Now     func() time.Time // names rotated files; nil if they are numbered only, and there is no spool
	Log     *slog.Logger     // gets the first failure of the sink in a row, and its recovery; nil if nothing is logged

	SpoolBytes int64         // of the spool on disk, at most; 0 means spool.DefaultBytes
	SpoolAge   time.Duration // of the oldest unsent event in it, at most; 0 means any
	Wait       time.Duration // how long a batch in the spool waits until it is sent; 0 means that it does not
}

// Defaults of a Config.
const (
	DefaultLimit   = 10
	DefaultMaxBody = 1 << 20
)

// Service accepts batches. Its methods may be called concurrently.
type Service struct {
	limit   int
	maxBody int64
	typed   bool
	binary  bool
	traced  bool
	token   *[sha256.Size]byte // of the token, so that no length is compared; nil if none is required
	sink    sink.Sink          // nil if nothing is stored, so no lines are built
	cut     int64              // bytes of an unfinished line or write that the sink found
	unsent  uint64             // events that it found in the spool
	log     *slog.Logger
	now     func() time.Time // nil if there is no clock
	counts  counters

	unpackers sync.Pool // of *unpacker
	buffers   sync.Pool // of *bytes.Buffer
	lines     sync.Pool // of *[]byte
}

// New opens the sink.
func New(c Config) (*Service, error) {
	if c.Binary && cmp.Or(c.Sink, SinkNull) != SinkNull {
		return nil, fmt.Errorf("metadata in a binary format is for measuring, and sink %q takes lines of JSON; use sink null", c.Sink)
	}
	if c.Limit < 0 || c.MaxBody < 0 || c.Rotate < 0 {
		return nil, fmt.Errorf("limit %d, max body %d, rotate %d: none of them can be less than 0", c.Limit, c.MaxBody, c.Rotate)
	}
	s := &Service{limit: c.Limit, maxBody: c.MaxBody, typed: c.Typed, binary: c.Binary, traced: c.Trace, log: c.Log, now: c.Now}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
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
	kind, path, err := ParseSink(cmp.Or(c.Sink, SinkNull))
	if err != nil {
		return nil, fmt.Errorf("sink %w", err)
	}
	switch kind {
	case SinkFile:
		f, cut, err := sink.Open(path, sink.Options{Fsync: c.Fsync, Rotate: c.Rotate, Now: c.Now})
		if err != nil {
			return nil, err
		}
		s.sink, s.cut = f, cut
	case SinkSpool:
		if c.Now == nil {
			return nil, errors.New("a spool needs a clock")
		}
		sp, found, err := spool.Open(path, spool.Options{Fsync: c.Fsync, Bytes: c.SpoolBytes, Age: c.SpoolAge, Wait: c.Wait, Now: c.Now})
		if err != nil {
			return nil, err
		}
		s.sink, s.cut, s.unsent = sp, found.Torn, found.Events
	}
	return s, nil
}

// Kinds of sinks of the service itself.
const (
	SinkNull  = "null"
	SinkFile  = "file"
	SinkSpool = "spool"
)

// HasSink reports whether the service itself has a kind of sink.
func HasSink(kind string) bool { return kind == SinkNull || kind == SinkFile || kind == SinkSpool }

// ParseSink returns the kind of a sink of the service, and the path of its file or
// directory.
func ParseSink(text string) (kind, path string, err error) {
	if kind, path, _ = strings.Cut(text, ":"); text != SinkNull && (kind == SinkNull || !HasSink(kind) || path == "") {
		return "", "", fmt.Errorf("%q is neither null nor file:PATH nor spool:DIR", text)
	}
	return kind, path, nil
}

// unreadyTime is the time for which the service reports that it is not ready after a batch that it could not
// store. After that it reports ready again: without new requests it could not learn that the sink
// works again.
const unreadyTime = 5 * time.Second

// Ready returns why batches cannot be stored now, without internal details.
func (s *Service) Ready(context.Context) error {
	if to, ok := s.sink.(*spool.Spool); ok {
		st := to.Status()
		if st.Bound-st.Bytes < st.Bound/100 || st.Late {
			return errors.New("the spool is full")
		}
		if slices.ContainsFunc(st.Cursors, func(c spool.Cursor) bool { return c.Held }) {
			return errors.New("a destination takes no events")
		}
	}
	if failed := s.counts.failed.Load(); failed != nil && s.counts.failing.Load() > 0 {
		if since := s.now().Sub(*failed); since >= 0 && since < unreadyTime { // below 0: the clock was set back
			return errors.New("the sink fails")
		}
	}
	return nil
}

// Close waits until the batches in progress are stored, and closes the sink.
func (s *Service) Close() error {
	if s.sink == nil {
		return nil
	}
	return s.sink.Close()
}

// Delivered returns how many records the sink has taken.
func (s *Service) Delivered() int64 { return s.counts.records.Load() }

// Cut returns the size of the unfinished last line or write that the sink found when
// it was opened. A file sink removes it; readers of a spool skip it.
func (s *Service) Cut() int64 { return s.cut }

// Unsent returns how many events the sink found that are still to be sent on.
func (s *Service) Unsent() uint64 { return s.unsent }

// MaxBody returns how many bytes a body may have, as sent and unpacked.
func (s *Service) MaxBody() int64 { return s.maxBody }

// Limit returns how many records a batch may have.
func (s *Service) Limit() int { return s.limit }
