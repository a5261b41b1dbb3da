package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/pdata/plog"
)

// linesConfig is the configuration of the exporter lines.
type linesConfig struct {
	Path  string        `mapstructure:"path"`           // file to append to
	Flush time.Duration `mapstructure:"flush_interval"` // time between writes of the buffer
}

func defaultLinesConfig() component.Config { return &linesConfig{Flush: time.Second} }

// Validate rejects an incomplete configuration.
func (d *linesConfig) Validate() error {
	if d.Path == "" || d.Flush <= 0 {
		return errors.New("path must be given, and flush_interval be positive")
	}
	return nil
}

// lineExporter is the exporter lines of the collector: it appends the body of each log record, as a line, to a
// file. It buffers lines and writes them at intervals.
type lineExporter struct {
	config *linesConfig
	stop   chan struct{} // closed to end the goroutine that flushes the buffer
	done   chan struct{} // closed when this goroutine has ended

	mu     sync.Mutex // protects file and buffer
	file   *os.File
	buffer *bufio.Writer
}

func newExporter(ctx context.Context, s exporter.Settings, c component.Config) (exporter.Logs, error) {
	l := &lineExporter{config: c.(*linesConfig), stop: make(chan struct{}), done: make(chan struct{})}
	return exporterhelper.NewLogs(ctx, s, c, l.writeLogs, exporterhelper.WithStart(l.start), exporterhelper.WithShutdown(l.close))
}

// start opens the file and starts the goroutine that flushes the buffer.
func (l *lineExporter) start(context.Context, component.Host) (err error) {
	if l.file, err = os.OpenFile(l.config.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return err
	}
	l.buffer = bufio.NewWriter(l.file)
	go func() {
		defer close(l.done)
		tick := time.NewTicker(l.config.Flush)
		defer tick.Stop()
		for {
			select {
			case <-l.stop:
				return
			case <-tick.C:
				l.mu.Lock()
				_ = l.buffer.Flush() // the next write to the buffer returns the error again
				l.mu.Unlock()
			}
		}
	}()
	return nil
}

// close stops the goroutine, writes the buffer and closes the file.
func (l *lineExporter) close(context.Context) error {
	if l.file == nil {
		return nil
	}
	close(l.stop)
	<-l.done
	return errors.Join(l.buffer.Flush(), l.file.Close())
}

// writeLogs writes log records to the buffer.
func (l *lineExporter) writeLogs(_ context.Context, logs plog.Logs) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return writeLines(l.buffer, logs)
}

// writeLines writes the body of each log record as a line.
func writeLines(w io.StringWriter, logs plog.Logs) error {
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				if _, err := w.WriteString(record.Body().AsString() + "\n"); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
