package ingest

import (
	"context"
	"io"
	"time"
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

// Format is how a body is encoded.
type Format string

// Formats, by their media types.
const (
	JSON     Format = "application/json"
	Protobuf Format = "application/x-protobuf"
	Gob      Format = "application/x-gob"
)

// Head is what a request says before its body.
type Head struct {
	Authorization   string
	ContentType     string
	ContentEncoding string
	Length          int64 // of the body; -1: not said
}

// Service takes batches. Its methods may be called concurrently.
type Service struct{}

// New opens the sink.
func New(c Config) (*Service, error) { panic("not written") }

// Close waits for what is being kept and closes the sink.
func (s *Service) Close() error { panic("not written") }

// Delivered is how many records the sink has taken.
func (s *Service) Delivered() int64 { panic("not written") }

// Admit looks at the head of a request, and says how its body is encoded:
// one of formats, or JSON where none are given.
func (s *Service) Admit(h Head, formats ...Format) (Format, error) { panic("not written") }

// Body is a request's body, unpacked. Reading more than the limit fails.
type Body struct{}

// Body reads r as h says that it is encoded. It must be closed.
func (s *Service) Body(h Head, r io.Reader) *Body { panic("not written") }

// Read is that of [io.Reader].
func (b *Body) Read(p []byte) (int, error) { panic("not written") }

// Close gives buffers back. It does not close what it reads from.
func (b *Body) Close() error { panic("not written") }

// Refusal is what a decoder's error err means: what went wrong with reading
// the body, if that was it, or else that the body is malformed.
func (b *Body) Refusal(err error) error { panic("not written") }

// Unpack is Body for a server that has read the whole body already. The result
// may be body itself.
func (s *Service) Unpack(h Head, body []byte) ([]byte, error) { panic("not written") }

// Batch is what a stack decoded.
type Batch interface {
	Len() int
	Head(i int) (id string, at time.Time)
	// Metadata is encoded as JSON without line ends. It may be overwritten by
	// the next call.
	Metadata(i int) ([]byte, error)
}

// Records is a batch of records, with marshal to encode their metadata, which
// it is given a pointer to.
func Records(list []Record, marshal func(any) ([]byte, error)) Batch { panic("not written") }

// Accept checks a batch, encodes its metadata and hands it to the sink. It
// returns when the sink has taken all of it, or nothing.
func (s *Service) Accept(ctx context.Context, b Batch) (Receipt, error) { panic("not written") }

// Refusal is why a request is not served, as its answer says it.
type Refusal struct {
	Status  int    `json:"-"`
	Code    string `json:"error"`   // one word for machines, e.g. malformed
	Message string `json:"message"` // one line for people
}

// Error is code and message.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// RefusalOf is what err, of any method of the service, says to a client. It
// counts it. An error that is no refusal is the service's own fault, of which
// the client is told nothing more.
func (s *Service) RefusalOf(err error) *Refusal { panic("not written") }

// Metrics are the service's counters, as text that Prometheus reads.
func (s *Service) Metrics() []byte { panic("not written") }

// OpenAPI is the service's description.
func OpenAPI() []byte { panic("not written") }
