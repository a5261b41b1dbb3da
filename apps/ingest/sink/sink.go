// Package sink keeps lines: nowhere, or in files.
//
// What is kept are whole lines, each with its line end and without a zero byte
// or another line end in it, such as JSON on one line. They come in batches. A
// batch is kept as a whole or not at all.
//
// A broker's client is a [Sink] as well: Keep publishes a batch and waits until
// the broker has acknowledged it (in NATS JetStream: PublishAsync for each line
// and then its PubAckFutures).
package sink

import (
	"context"

	"github.com/tarebench/tare/apps/ingest/commit"
)

// Sink keeps batches of lines. Its methods may be called concurrently.
type Sink interface {
	// Keep keeps lines, which are n whole ones, and returns when they are kept
	// as surely as the sink promises; then they are acknowledged. After an error
	// the sink may hold them or not, but it never holds a part of a line. Where
	// ctx ends before the sink has begun with them, the error is ctx's own and
	// nothing of them is kept. Keep does not hold on to lines when it returns.
	Keep(ctx context.Context, lines []byte, n int) error

	// Close waits for what is being kept. Keep fails afterwards.
	Close() error
}

// Errors of Keep. A batch that is too large will always be.
var (
	ErrClosed   = commit.ErrClosed
	ErrTooLarge = commit.ErrTooLarge
)

// Null is a sink that keeps nothing.
type Null struct{}

var _ Sink = Null{}

// Keep does nothing, unless ctx has ended.
func (Null) Keep(ctx context.Context, _ []byte, _ int) error { return ctx.Err() }

// Close does nothing.
func (Null) Close() error { return nil }
