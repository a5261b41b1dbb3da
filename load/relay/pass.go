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
	maxInFlight = 256      // chunks of one connection and direction that may be in flight
)

// chunkSize returns the number of bytes that travel together: those that the link carries in 5 ms, so that
// connections which share it alternate often.
func chunkSize(bandwidth int64) int {
	if bandwidth == 0 {
		return maxChunk
	}
	return int(min(max(bandwidth/8/200, minChunk), maxChunk))
}

// chunk is some bytes in flight.
type chunk struct {
	buffer *[]byte
	n      int
	due    time.Time // time of delivery
}

// copyDelayed copies from src to dst over link, until src has ended or dst fails. It delays the end of src
// like the bytes before it. Chunks are read while earlier ones are in flight: a delay costs no throughput.
func (r *Relay) copyDelayed(dst, src net.Conn, l *link) {
	pieces := make(chan chunk, maxInFlight)
	gone := make(chan struct{}) // dst has failed
	var broken error            // how src ended; read after pieces is closed
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(pieces)
		broken = r.readChunks(src, l, pieces, gone)
	})
	err := r.deliverChunks(dst, pieces)
	close(gone)
	if err != nil {
		// dst is gone: reset src, as its peer would.
		resetOnClose(src)
		src.Close()
	}
	reader.Wait()
	for p := range pieces {
		r.buffers.Put(p.buffer)
	}
	switch {
	case err != nil:
	case errors.Is(broken, io.EOF) && r.waitUntil(time.Now().Add(r.options.Delay/2)):
		if tcp, ok := dst.(*net.TCPConn); ok {
			tcp.CloseWrite() //nolint:errcheck // if that fails the connection has ended anyway
		}
	default:
		resetOnClose(dst)
		dst.Close()
	}
}

// readChunks reads from src and reserves the link. Its error is the end of src.
func (r *Relay) readChunks(src net.Conn, l *link, pieces chan<- chunk, gone <-chan struct{}) error {
	for {
		if !r.waitUntil(l.nextFree()) {
			return net.ErrClosed
		}
		buffer := r.buffers.Get().(*[]byte)
		n, err := src.Read(*buffer)
		if n > 0 {
			p := chunk{buffer, n, l.reserve(n, time.Now()).Add(r.options.Delay / 2)}
			select {
			case pieces <- p:
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

// deliverChunks writes every chunk to dst when it is due. Its error is dst's, or net.ErrClosed if the relay
// was closed.
func (r *Relay) deliverChunks(dst net.Conn, pieces <-chan chunk) error {
	for p := range pieces {
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
