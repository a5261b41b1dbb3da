// Package serving is app ingest as programs serve it: what can be chosen, and how
// the service is opened.
package serving

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
)

// Names of settings.
const (
	SetLimit   = "limit"
	SetMaxBody = "max-body"
	SetToken   = "token"
	SetSink    = "sink"
	SetFsync   = "fsync"
	SetRotate  = "rotate"
)

const (
	sinkNull = "null"
	sinkFile = "file:"
)

// Serve makes a server for the service.
type Serve func(o server.Options, s *ingest.Service) (server.Server, error)

// App is the app for a program that serves it so.
func App(serve Serve) server.App {
	return server.App{Name: ingest.Name, New: func() server.Config { return &config{serve: serve} }}
}

type config struct {
	ingest.Config
	serve Serve
}

func (c *config) Settings() []server.Setting {
	return []server.Setting{
		server.Chosen(SetLimit, strconv.Itoa(ingest.DefaultLimit), "`records` in a batch, at most", server.Number(&c.Limit, 1, 1_000_000)),
		server.Chosen(SetMaxBody, "1MiB", "`bytes` of a body at most, as sent and unpacked; also with kB, MB, KiB, MiB, …", server.Size(&c.MaxBody, 1)),
		server.Chosen(SetToken, "", "`secret` that requests must carry as Authorization: Bearer; empty: none", server.Text(&c.Token)),
		server.Chosen(SetSink, sinkNull, "where events go: null throws them away, file:`PATH` appends lines of JSON", c.setSink),
		server.Chosen(SetFsync, server.Off, "events are on stable storage before they are acknowledged", server.Switched(&c.Fsync)),
		server.Chosen(SetRotate, "0", "`bytes` after which the file sink begins another file; 0: never", server.Size(&c.Rotate, 0)),
	}
}

func (c *config) setSink(value string) error {
	if path, file := strings.CutPrefix(value, sinkFile); value != sinkNull && (!file || path == "") {
		return fmt.Errorf("%q is neither null nor file:PATH", value)
	}
	c.Sink = value
	return nil
}

func (c *config) Check() error { return nil }

// Open opens the sink. Under a lab rotated files are numbered only.
func (c *config) Open(lab bool) (server.Service, error) {
	if !lab {
		c.Now = time.Now
	}
	s, err := ingest.New(c.Config)
	if err != nil {
		return server.Service{}, err
	}
	return server.Service{
		Make:      func(o server.Options) (server.Server, error) { return c.serve(o, s) },
		Delivered: s.Delivered, Close: s.Close, Keeps: "sink", Notices: c.notices(s),
	}, nil
}

func (c *config) notices(s *ingest.Service) []string {
	if c.Sink == sinkNull {
		return []string{"there is no sink: events are acknowledged and thrown away; -sink file:PATH keeps them"}
	}
	if cut := s.Cut(); cut > 0 {
		return []string{fmt.Sprintf("the last line of %s was unfinished: its %d bytes were cut off", strings.TrimPrefix(c.Sink, sinkFile), cut)}
	}
	return nil
}
