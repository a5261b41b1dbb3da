package relay

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

const (
	maxChunk    = 16 << 10 // bytes
	minChunk    = 512      // bytes
	maxInFlight = 256      // chunks in flight of one connection and direction
)

// chunkSize returns the bytes that a link carries in 5 ms. So connections that share it alternate often.
// bandwidth is in bits per second.
func chunkSize(bandwidth int64) int {
	if bandwidth == 0 {
		return maxChunk
	}
	const chunksPerSecond = 200 // 5 ms
	return int(min(max(bandwidth/8/chunksPerSecond, minChunk), maxChunk))
}

type chunk struct {
	buffer *[]byte
	n      int
	due    time.Time
}

// copyDelayed copies from src to dst over link l, until src ends or dst fails. It delays everything by half
// of Options.Delay, which is for both directions. It reads chunks while others are in flight, so the delay
// costs no throughput.
func (r *Relay) copyDelayed(dst, src net.Conn, l *link) {
	chunks := make(chan chunk, maxInFlight)
	gone := make(chan struct{}) // closed when dst has failed or everything is delivered
	var srcErr error            // why src ended; valid once chunks is closed
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(chunks)
		srcErr = r.readChunks(src, l, chunks, gone)
	})
	err := r.deliverChunks(dst, chunks)
	close(gone)
	if err != nil {
		// dst is gone: reset src, as its peer would.
		resetOnClose(src)
		src.Close()
	}
	reader.Wait()
	for p := range chunks {
		r.buffers.Put(p.buffer)
	}
	switch {
	case err != nil: // dst is gone, and src is closed
	case errors.Is(srcErr, io.EOF) && r.waitUntil(time.Now().Add(r.options.Delay/2)):
		if tcp, ok := dst.(*net.TCPConn); ok {
			tcp.CloseWrite() //nolint:errcheck // if that fails the connection has ended anyway
		}
	default:
		resetOnClose(dst)
		dst.Close()
	}
}

// readChunks reads chunks from src and reserves the link for them. It returns the error that ends src, also
// io.EOF.
func (r *Relay) readChunks(src net.Conn, l *link, chunks chan<- chunk, gone <-chan struct{}) error {
	for {
		if !r.waitUntil(l.nextFree()) {
			return net.ErrClosed
		}
		buffer := r.buffers.Get().(*[]byte)
		n, err := src.Read(*buffer)
		if n > 0 {
			p := chunk{buffer: buffer, n: n, due: l.reserve(n, time.Now()).Add(r.options.Delay / 2)}
			select {
			case chunks <- p:
			case <-gone:
				return net.ErrClosed
			}
		} else {
			r.buffers.Put(buffer)
		}
		if err != nil {
			return err
		}
	}
}

// deliverChunks writes every chunk to dst when it is due. It returns the error of dst, or net.ErrClosed if
// the relay was closed.
func (r *Relay) deliverChunks(dst net.Conn, chunks <-chan chunk) error {
	for p := range chunks {
		if !r.waitUntil(p.due) {
			r.buffers.Put(p.buffer)
			return net.ErrClosed
		}
		_, err := dst.Write((*p.buffer)[:p.n])
		r.buffers.Put(p.buffer)
		if err != nil {
			return err
		}
	}
	return nil
}
