// Package kinds opens sinks by their URLs.
package kinds

import (
	"context"
	"fmt"
	"strings"
	"time"

	local "github.com/tarebench/tare/apps/ingest/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/jetstream"
	"github.com/tarebench/tare/cmd/tare/internal/sink/kafka"
	"github.com/tarebench/tare/cmd/tare/internal/sink/postgres"
	"github.com/tarebench/tare/cmd/tare/internal/sink/web"
)

// Config is what URLs do not say.
type Config struct {
	Token string // for far sides behind HTTP, where the URL has no other
	Fsync bool   // of a file, where the URL does not say it
	Now   func() time.Time
}

// Open is the sink that t names. Its far side need not be there yet.
func Open(t sink.Target, c Config) (sink.Sink, error) {
	switch {
	case t.Kind == "null":
		return Null{}, nil
	case t.Kind == "file":
		return openFile(t, c.Fsync)
	case strings.Contains(t.Kind, "+"):
		return web.New(t, web.Config{Token: c.Token, Now: c.Now})
	case t.Kind == "kafka":
		return kafka.New(t)
	case t.Kind == "jetstream":
		return jetstream.New(t)
	case t.Kind == "postgres":
		return postgres.New(t)
	}
	return nil, fmt.Errorf("sink %s: there is no kind %s", t.Name(), t.Kind)
}

// Null throws events away.
type Null struct{}

var _ sink.Sink = Null{}

// Send does nothing.
func (Null) Send(context.Context, sink.Batch) (sink.Result, error) { return sink.Result{}, nil }

// Promise promises nothing.
func (Null) Promise() sink.Promise { return sink.Promise{To: "nowhere", Sent: "thrown away"} }

// Close does nothing.
func (Null) Close() error { return nil }

// File appends lines to a file.
type File struct {
	path  string
	fsync bool
	file  *local.File
	lines []byte
}

var _ sink.Sink = (*File)(nil)

func openFile(t sink.Target, byDefault bool) (*File, error) {
	path := t.URL.Opaque
	if path == "" {
		path = t.URL.Path
	}
	fsync, err := t.On("fsync", byDefault)
	if err != nil {
		return nil, err
	}
	f, _, err := local.Open(path, local.Options{Fsync: fsync})
	if err != nil {
		return nil, fmt.Errorf("sink %s: %w", t.Name(), err)
	}
	return &File{path: path, fsync: fsync, file: f}, nil
}

// Send appends a batch, all or nothing of it.
func (f *File) Send(ctx context.Context, b sink.Batch) (sink.Result, error) {
	f.lines = f.lines[:0]
	for _, e := range b.Events {
		f.lines = append(append(f.lines, e.Line...), '\n')
	}
	return sink.Result{}, f.file.Keep(ctx, f.lines, len(b.Events))
}

// Promise says whether the file is synced.
func (f *File) Promise() sink.Promise {
	p := sink.Promise{To: "file:" + f.path, Sent: "written, which survives a kill but not a power cut"}
	if f.fsync {
		p.Sent = "on stable storage"
	}
	return p
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }
