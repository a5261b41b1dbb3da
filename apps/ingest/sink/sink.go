// Package sink stores batches of lines: in files ([File]), or nowhere ([Null]).
//
// A line is any text without a zero byte or a line end, for example JSON, followed by a line end.
// A batch of lines is stored completely or not at all.
//
// The client of a broker can implement [Sink], too: Keep publishes a batch and waits until the broker
// has acknowledged it (in NATS JetStream: PublishAsync for each line and then its PubAckFutures).
package sink

import (
	"context"

	"github.com/tarebench/tare/apps/ingest/commit"
)

// Sink stores batches of lines. Its methods may be called concurrently.
type Sink interface {
	// Keep stores lines, which consists of n complete lines. A return without an error acknowledges the
	// lines: they are stored as safely as the sink guarantees. After an error the sink may contain the
	// lines or not, but never a part of a line. If ctx ends before the sink begins to store the lines,
	// the error is that of ctx and no line is stored. Keep does not retain lines after it returns.
	Keep(ctx context.Context, lines []byte, n int) error

	// Close waits for writes in flight. Afterwards Keep fails.
	Close() error
}

// Errors of Keep. After ErrTooLarge it is useless to try the batch again.
var (
	ErrClosed   = commit.ErrClosed
	ErrTooLarge = commit.ErrTooLarge
)

// Null is a sink that stores nothing.
type Null struct{}

var _ Sink = Null{}

// Keep does nothing, unless ctx has ended.
func (Null) Keep(ctx context.Context, _ []byte, _ int) error { return ctx.Err() }

// Close does nothing.
func (Null) Close() error { return nil }
