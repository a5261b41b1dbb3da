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

// Config configures a service that accepts batches of records over HTTP. It writes them to a sink: a file, a
// spool or nothing. The zero Config works.
type Config struct {
	Limit   int              // largest number of records in a batch; 0 means DefaultLimit
	Typed   bool             // decode and encode the fields of [Metadata], instead of storing any object as sent
	Binary  bool             // metadata of protobuf and gob keeps its format; requires sink null
	MaxBody int64            // largest body in bytes, as sent and unpacked; 0 means DefaultMaxBody
	Trace   bool             // store a request's traceparent with its events
	Token   string           // secret of Authorization: Bearer; "" means none
	Sink    string           // null, file:PATH or spool:DIR; "" means null
	Fsync   bool             // sync before a batch is acknowledged
	Rotate  int64            // bytes after which the file sink begins another file; 0 means never
	Now     func() time.Time // required for a spool; without it, names of rotated files have no times
	Log     *slog.Logger     // logs the first failure of the sink and its recovery; may be nil

	SpoolBytes int64         // largest size of the spool in bytes; 0 means spool.DefaultBytes
	SpoolAge   time.Duration // largest age of an unsent event; 0 means no maximum
	Wait       time.Duration // wait for the spool to send a batch before the response; 0 means none
}

// Default limits of a batch: records, and bytes of a body.
const (
	DefaultLimit   = 10
	DefaultMaxBody = 1 << 20
)

// Kinds of sinks in this package.
const (
	SinkNull  = "null"
	SinkFile  = "file"
	SinkSpool = "spool"
)

// Service accepts batches and passes their records to a sink. Its methods may be called concurrently.
type Service struct {
	limit   int
	maxBody int64
	typed   bool
	binary  bool
	traced  bool
	token   *[sha256.Size]byte // nil without a token
	sink    sink.Sink          // nil for sink null
	cut     int64              // bytes of an unfinished write at the start
	unsent  uint64             // events of the spool at the start
	log     *slog.Logger
	now     func() time.Time // may be nil
	counts  counters

	unpackers sync.Pool // elements are *unpacker
	buffers   sync.Pool // elements are *bytes.Buffer
	lines     sync.Pool // elements are *[]byte
}

// New returns a service with its sink open. An error is about the configuration or the sink.
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
		spooled, found, err := spool.Open(path, spool.Options{Fsync: c.Fsync, Bytes: c.SpoolBytes, Age: c.SpoolAge, Wait: c.Wait, Now: c.Now})
		if err != nil {
			return nil, err
		}
		s.sink, s.cut, s.unsent = spooled, found.Torn, found.Events
	}
	return s, nil
}

// HasSink reports whether this package implements a kind of sink.
func HasSink(kind string) bool { return kind == SinkNull || kind == SinkFile || kind == SinkSpool }

// ParseSink parses null, file:PATH or spool:DIR.
func ParseSink(text string) (kind, path string, err error) {
	if text == SinkNull {
		return SinkNull, "", nil
	}
	kind, path, _ = strings.Cut(text, ":")
	hasPath := kind == SinkFile || kind == SinkSpool
	if !hasPath || path == "" {
		return "", "", fmt.Errorf("%q is neither null nor file:PATH nor spool:DIR", text)
	}
	return kind, path, nil
}

// After a failure the service is not ready for unreadyTime. Only a new request can show that the sink
// works.
const unreadyTime = 5 * time.Second

// Ready returns nil if batches can be stored now. An error says why not, without internal details.
func (s *Service) Ready(context.Context) error {
	if spooled, ok := s.sink.(*spool.Spool); ok {
		status := spooled.Status()
		isFull := status.Bound-status.Bytes < status.Bound/100 // less than 1 % is free
		if isFull || status.Late {
			return errors.New("the spool is full")
		}
		if slices.ContainsFunc(status.Cursors, func(c spool.Cursor) bool { return c.Held }) {
			return errors.New("a destination takes no events")
		}
	}
	// failed is nil without a clock.
	if failed := s.counts.failed.Load(); failed != nil && s.counts.failing.Load() > 0 {
		if since := s.now().Sub(*failed); since >= 0 && since < unreadyTime { // negative if the clock was set back
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

// Delivered returns the number of records that the sink has stored.
func (s *Service) Delivered() int64 { return s.counts.records.Load() }

// Cut returns the bytes of an unfinished write when the sink was opened.
func (s *Service) Cut() int64 { return s.cut }

// Unsent returns the unsent events of the spool when it was opened.
func (s *Service) Unsent() uint64 { return s.unsent }

// MaxBody returns the maximum bytes of a body, both as sent and unpacked.
func (s *Service) MaxBody() int64 { return s.maxBody }

// Limit returns the maximum number of records in a batch.
func (s *Service) Limit() int { return s.limit }
