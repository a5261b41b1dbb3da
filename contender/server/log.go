package server

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"
)

// Access logs for frameworks that have none.
const (
	LogNone    = "none"    // no access log
	LogDiscard = "discard" // lines are formatted and discarded
	LogFile    = "file"    // lines are appended to a file
	LogStdout  = "stdout"  // lines go to standard output
	LogPTY     = "pty"     // lines go to standard output, which tare has made a pseudo-terminal
)

// openLog opens the destination of an access log, and returns a function that closes it. path is for LogFile.
// A nil writer means no log. Files and terminals are an [os.File], because frameworks look for a terminal.
func openLog(destination, path string, stdout *os.File) (io.Writer, func(), error) {
	noClose := func() {}
	switch destination {
	case "", LogNone:
		return nil, noClose, nil
	case LogDiscard:
		return io.Discard, noClose, nil
	case LogStdout, LogPTY:
		return stdout, noClose, nil
	case LogFile:
		if path == "" {
			return nil, noClose, fmt.Errorf("log to a file without its path")
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, noClose, fmt.Errorf("log: %w", err)
		}
		return f, func() { _ = f.Close() }, nil
	}
	return nil, noClose, fmt.Errorf("unknown log %q; known: none, discard, file, stdout, pty", destination)
}

// AccessLog returns a handler that calls next and then logs method, path, status and duration with log/slog.
// It is for frameworks on net/http without an access log. If o.Log is nil it returns next.
func AccessLog(next http.Handler, o Options) http.Handler {
	if o.Log == nil {
		return next
	}
	writeLine := Lines(o.Log)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.Receipts.Layer() // count a call of a middleware
		start := time.Now()
		wrapped := &statusWriter{ResponseWriter: w, code: http.StatusOK}
		next.ServeHTTP(wrapped, r)
		writeLine(r.Method, r.URL.Path, wrapped.code, time.Since(start))
	})
}

// Lines returns a function that writes lines of log/slog, for frameworks without an access log.
func Lines(w io.Writer) func(method, path string, status int, took time.Duration) {
	log := slog.New(slog.NewTextHandler(w, nil))
	return func(method, path string, status int, took time.Duration) {
		log.Info("request", slog.String("method", method), slog.String("path", path), slog.Int("status", status), slog.Duration("took", took))
	}
}

// OneLine returns a writer for access logs with unescaped client data. Each Write becomes one line in w, with
// control bytes escaped as in \x0a.
func OneLine(w io.Writer) io.Writer { return oneLine{w} }

type oneLine struct{ io.Writer }

func (l oneLine) Write(p []byte) (int, error) {
	const hex = "0123456789abcdef"
	text := make([]byte, 0, len(p)+16)
	for _, b := range bytes.TrimSuffix(p, []byte("\n")) {
		if b < ' ' || b == 0x7f {
			text = append(text, '\\', 'x', hex[b>>4], hex[b&15])
			continue
		}
		text = append(text, b)
	}
	if _, err := l.Writer.Write(append(text, '\n')); err != nil {
		return 0, err
	}
	return len(p), nil
}

type statusWriter struct {
	http.ResponseWriter
	code int
}

func (s *statusWriter) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap returns the original writer for [http.ResponseController].
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }
