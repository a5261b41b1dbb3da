package server

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// destinationWord is the placeholder, in a command and its files, for the port of a [destination].
const destinationWord = "$DESTINATION"

const (
	destinationHeader = 10 * time.Second // limit of a request's header
	destinationBody   = 256 << 20        // limit of an unpacked body in bytes
)

// destination is an HTTP server on loopback to which a command sends its events. It accepts every
// body, plain or gzip, and counts its lines.
type destination struct {
	server   *http.Server
	port     string
	received atomic.Int64 // lines in complete bodies
}

func listenDestination() (*destination, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &destination{port: strconv.Itoa(l.Addr().(*net.TCPAddr).Port)}
	d.server = &http.Server{Handler: d, ReadHeaderTimeout: destinationHeader}
	go func() { _ = d.server.Serve(l) }() // ends when d is closed
	return d, nil
}

// ServeHTTP counts the lines of a body if it is complete, because a sender repeats an incomplete
// one.
func (d *destination) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body := io.Reader(q.Body)
	switch q.Header.Get("Content-Encoding") {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(q.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	default:
		http.Error(w, "the body must be plain or gzip", http.StatusUnsupportedMediaType)
		return
	}
	n, err := countLines(http.MaxBytesReader(w, io.NopCloser(body), destinationBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		d.received.Add(n)
	}
}

// countLines returns the number of lines in r. The last line need not have a line end.
func countLines(r io.Reader) (n int64, err error) {
	buf := make([]byte, 64<<10)
	last := byte('\n')
	for {
		read, err := r.Read(buf)
		if read > 0 {
			n += int64(bytes.Count(buf[:read], []byte{'\n'}))
			last = buf[read-1]
		}
		if errors.Is(err, io.EOF) {
			if last != '\n' {
				n++
			}
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

func (d *destination) count() (int64, error) { return d.received.Load(), nil }

func (d *destination) close() { _ = d.server.Close() }
