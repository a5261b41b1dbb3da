// Package local provides the sinks that need no server: file, and null, which discards events.
package local

import (
	"context"
	"fmt"

	ingest "github.com/tarebench/tare/apps/ingest/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink"
)

// Kinds returns the kinds of sinks null and file.
func Kinds() sink.Kinds {
	return sink.Kinds{
		{Form: "null", Open: func(sink.Target, sink.Settings) (sink.Sink, error) { return null{}, nil }},
		{Form: "file:PATH", Options: []string{"fsync=on"}, Open: openFile},
	}
}

// null discards events.
type null struct{}

func (null) Send(context.Context, sink.Batch) (sink.Result, error) { return sink.Result{}, nil }
func (null) Promise() sink.Promise                                 { return sink.Promise{To: "nowhere", Sent: "thrown away"} }
func (null) Close() error                                          { return nil }

// file appends lines to a file.
type file struct {
	path  string
	fsync bool
	file  *ingest.File
	lines []byte // buffer of Send
}

// openFile opens the file of t, e.g. file:events.ndjson#fsync=on. By default it is synced if the spool is.
func openFile(t sink.Target, s sink.Settings) (sink.Sink, error) {
	path := t.URL.Opaque // as in file:events.ndjson
	if path == "" {      // file:/var/events.ndjson
		path = t.URL.Path
	}
	fsync := t.Options["fsync"] == "on" || s.Fsync && t.Options["fsync"] == ""
	f, _, err := ingest.Open(path, ingest.Options{Fsync: fsync})
	if err != nil {
		return nil, fmt.Errorf("sink %s: %w", t.Name(), err)
	}
	return &file{path: path, fsync: fsync, file: f}, nil
}

// Send appends a batch, completely or not at all.
func (f *file) Send(ctx context.Context, b sink.Batch) (sink.Result, error) {
	f.lines = f.lines[:0]
	for _, e := range b.Events {
		f.lines = append(append(f.lines, e.Line...), '\n')
	}
	return sink.Result{}, f.file.Keep(ctx, f.lines, len(b.Events))
}

// Promise returns the guarantee, which depends on whether the file is synced.
func (f *file) Promise() sink.Promise {
	p := sink.Promise{To: "file:" + f.path, Sent: "written, which survives a kill but not a power cut"}
	if f.fsync {
		p.Sent = "on stable storage"
	}
	return p
}

func (f *file) Close() error { return f.file.Close() }
