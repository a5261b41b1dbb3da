// Package serving lets programs serve app ingest, which accepts batches of events. It declares the settings
// and opens the service.
package serving

import (
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/apps/ingest/spool"
	"github.com/tarebench/tare/contender/server"
)

// Names of settings, and values of metadata.
const (
	SetLimit   = "limit"
	SetMaxBody = "max-body"
	SetToken   = server.SetToken
	SetSink    = "sink"

	SetMetadata    = "metadata"
	MetadataRaw    = "raw"    // a value of SetMetadata
	MetadataTyped  = "typed"  // a value of SetMetadata
	MetadataBinary = "binary" // a value of SetMetadata

	SetTrace = "trace"

	SetFsync  = "fsync"
	SetRotate = "rotate"

	SetSpoolBytes = "spool-bytes"
	SetSpoolAge   = "spool-age"
	SetSinkWait   = "sink-wait"
)

// Serve makes a server for a service. Each program has its own, with another HTTP library.
type Serve func(o server.Options, s *ingest.Service) (server.Server, error)

// App returns app ingest for a program that makes its server with serve.
func App(serve Serve) server.App {
	return server.App{Name: ingest.Name, New: func() server.Config { return &config{serve: serve} }}
}

// config is the app's configuration. Settings store values in it.
type config struct {
	ingest.Config
	serve Serve
}

// Settings implements [server.Config].
func (c *config) Settings() []server.Setting {
	return []server.Setting{
		server.Chosen(SetLimit, strconv.Itoa(ingest.DefaultLimit), "`records` in a batch, at most", server.Number(&c.Limit, 1, 1_000_000)),
		server.Chosen(SetMaxBody, "1MiB", "`bytes` of a body at most, as sent and unpacked; also with kB, MB, KiB, MiB, …", server.Size(&c.MaxBody, 1)),
		server.BearerToken(&c.Token),
		server.Chosen(SetMetadata, MetadataRaw, "raw hands on any object as it came; typed decodes 17 known fields and encodes them anew; binary, for measuring, does so in the format of the body", c.setMetadata),
		server.Chosen(SetTrace, server.Off, "the traceparent of a request is kept with each event, and sent on", server.Switched(&c.Trace)),
		server.Chosen(SetSink, ingest.SinkNull, "where events go: null throws them away, file:`PATH` appends them as lines of JSON, spool:DIR keeps them on disk for a program that reads the spool", c.setSink),
		server.Chosen(SetFsync, server.Off, "events are on stable storage before they are acknowledged", server.Switched(&c.Fsync)),
		server.Chosen(SetRotate, "0", "`bytes` after which the file sink begins another file; 0: never", server.Size(&c.Rotate, 0)),
		server.Chosen(SetSpoolBytes, "1GiB", "`bytes` of the spool on disk at most; batches are answered with 503 when it is full", server.Size(&c.SpoolBytes, spool.LeastBytes)),
		server.Chosen(SetSpoolAge, server.Off, "batches are answered with 503 while the oldest event has waited longer than this `duration`; off: never", server.Duration(&c.SpoolAge)),
		server.Chosen(SetSinkWait, server.Off, "`duration` that an answer waits until the events are sent on, else 202; off: they are acknowledged in the spool", server.Duration(&c.Wait)),
	}
}

func (c *config) setMetadata(value string) error {
	if value != MetadataRaw && value != MetadataTyped && value != MetadataBinary {
		return fmt.Errorf("%q is none of %s, %s and %s", value, MetadataRaw, MetadataTyped, MetadataBinary)
	}
	c.Typed = value == MetadataTyped || value == MetadataBinary
	c.Binary = value == MetadataBinary
	return nil
}

// setSink checks only the form of the name.
func (c *config) setSink(value string) error {
	_, _, err := ingest.ParseSink(value)
	c.Sink = value
	return err
}

// Check accepts all combinations of settings.
func (c *config) Check() error { return nil }

// Open opens the service with its sink. lab means that the program is measured. Names of rotated files then
// have no times, and failures are not logged.
func (c *config) Open(lab bool) (server.Service, error) {
	kind, _, _ := ingest.ParseSink(c.Sink) // setSink has checked it
	if !lab || kind == ingest.SinkSpool {
		c.Now = time.Now
	}
	if !lab {
		c.Log = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("app", ingest.Name)
	}
	// Usually package server checks the token, before the body is read. A measurement includes this work, so
	// the app does it.
	token := c.Token
	if lab {
		token = ""
	}
	s, err := ingest.New(c.Config)
	if err != nil {
		return server.Service{}, err
	}
	return server.Service{
		Make:      func(o server.Options) (server.Server, error) { return c.serve(o, s) },
		Delivered: s.Delivered,
		Close:     s.Close,
		Keeps:     "sink",
		Guarded:   c.Token != "",
		Token:     token,
		Types:     []string{string(ingest.JSON), string(ingest.Protobuf), string(ingest.Gob)},
		MaxBody:   s.MaxBody(),
		Notices:   c.noticeLines(s),
		Ready:     s.Ready,
		Metrics:   s.Metrics,
		OpenAPI:   func(string) []byte { return ingest.OpenAPI() },
		Refuse:    s.Refuse,
		Try:       server.TryWith(c.Token, tryCommand),
	}, nil
}

// noticeLines returns lines to print at the start: that there is no sink, or the state of the sink.
func (c *config) noticeLines(s *ingest.Service) []string {
	kind, path, _ := ingest.ParseSink(c.Sink)
	cut, unsent := s.Cut(), s.Unsent()
	switch {
	case kind == ingest.SinkNull:
		return []string{"there is no sink: events are acknowledged and thrown away; -sink file:PATH keeps them"}
	case kind == ingest.SinkSpool && cut > 0:
		return []string{fmt.Sprintf("%s has %d events to send on, and after them %d bytes of a write that was not finished, and not acknowledged", path, unsent, cut)}
	case kind == ingest.SinkSpool && unsent > 0:
		return []string{fmt.Sprintf("%s has %d events to send on", path, unsent)}
	case cut > 0:
		return []string{fmt.Sprintf("the last line of %s was unfinished: its %d bytes were cut off", path, cut)}
	}
	return nil
}

func tryCommand(_ string, address server.Address) string {
	return address.Curl() + ` -H 'Content-Type: application/json' -d '[{"id":"3f0c9a52-1d2e-4c55-9d0b-7a1f6f3f2b11","timestamp":1460616245,"metadata":{"user_id":"u-1842","plan":"free"}}]' ` + address.URL()
}
