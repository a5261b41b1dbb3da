package relay

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

const (
	mostChunk  = 16 << 10 // bytes
	leastChunk = 512      // bytes
	underway   = 256      // chunks of one connection and direction that may be on their way
)

// chunkOf is how many bytes travel together: what the link carries in 5 ms,
// so that connections which share it take short turns.
func chunkOf(bandwidth int64) int {
	if bandwidth == 0 {
		return mostChunk
	}
	return int(min(max(bandwidth/8/200, leastChunk), mostChunk))
}

// piece is some bytes on their way.
type piece struct {
	buffer *[]byte
	n      int
	due    time.Time // at the far end
}

// pass carries what src sends to dst over link, until src has ended or dst
// takes no more. The end of src is delayed like everything before it. What is
// read while earlier pieces are on their way travels behind them: a delay
// costs no throughput.
func (r *Relay) pass(dst, src net.Conn, l *link) {
	pieces := make(chan piece, underway)
	gone := make(chan struct{}) // dst takes no more
	var broken error            // how src ended; read after pieces is closed
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(pieces)
		broken = r.read(src, l, pieces, gone)
	})
	err := r.deliver(dst, pieces)
	close(gone)
	if err != nil {
		// Nobody takes it: src is told as its own peer would tell it.
		reset(src)
		src.Close()
	}
	reader.Wait()
	for p := range pieces {
		r.buffers.Put(p.buffer)
	}
	switch {
	case err != nil:
	case errors.Is(broken, io.EOF) && r.wait(time.Now().Add(r.options.Delay/2)):
		if tcp, ok := dst.(*net.TCPConn); ok {
			tcp.CloseWrite() //nolint:errcheck // where that fails the connection has ended in another way
		}
	default:
		reset(dst)
		dst.Close()
	}
}

// read puts what src sends on the link. The error is the end of src.
func (r *Relay) read(src net.Conn, l *link, pieces chan<- piece, gone <-chan struct{}) error {
	for {
		if !r.wait(l.free()) {
			return net.ErrClosed
		}
		buffer := r.buffers.Get().(*[]byte)
		n, err := src.Read(*buffer)
		if n > 0 {
			p := piece{buffer, n, l.carry(n, time.Now()).Add(r.options.Delay / 2)}
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

// deliver gives dst every piece when it is due. The error is dst's, or the
// relay's end.
func (r *Relay) deliver(dst net.Conn, pieces <-chan piece) error {
	for p := range pieces {
		if !r.wait(p.due) {
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
