// Package sink stores lines: nowhere, or in files.
//
// It stores complete lines, each with its line end and without a zero byte or another line end in
// it, such as JSON on one line. They come in batches. A batch is stored completely or not at all.
//
// A broker's client is a [Sink] as well: Keep publishes a batch and waits until the broker has
// acknowledged it (in NATS JetStream: PublishAsync for each line and then its PubAckFutures).
package sink

import (
	"context"

	"github.com/tarebench/tare/apps/ingest/commit"
)

// Sink stores batches of lines. Its methods may be called concurrently.
type Sink interface {
	// Keep stores lines, which are n complete ones, and returns when they are stored as safely as
	// the sink guarantees; then they are acknowledged. After an error the sink may contain them or
	// not, but never a part of a line. If ctx ends before the sink has begun with them, the error
	// is ctx's own and nothing of them is stored. Keep does not retain lines when it returns.
	Keep(ctx context.Context, lines []byte, n int) error

	// Close waits for writes in flight. Keep fails afterwards.
	Close() error
}

// Errors of Keep. A batch that is too large will always be.
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
