// Package sink stores batches of lines in files ([File]) or nowhere ([Null]). A line is any text without zero
// bytes, with a line end. A batch is stored completely or not at all.
//
// A broker's client can implement [Sink], too. With NATS JetStream, Keep calls PublishAsync for each line and
// waits for each PubAckFuture.
package sink

import (
	"context"

	"github.com/tarebench/tare/apps/ingest/commit"
)

// Sink stores batches of lines. Its methods may be called concurrently.
type Sink interface {
	// Keep stores n complete lines. Without an error they are stored as safely as the sink guarantees. After
	// an error they may be stored or not, but never a part of a line. If ctx ends before the write, nothing is
	// stored. Keep does not retain lines.
	Keep(ctx context.Context, lines []byte, n int) error

	// Close waits for writes in flight. Afterwards Keep fails.
	Close() error
}

// Errors of Keep. After ErrTooLarge another attempt is useless.
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
