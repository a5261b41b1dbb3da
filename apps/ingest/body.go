package ingest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// Body is a request's body, unpacked. It returns nothing before all of it has come and its records
// were counted: see [Service.Unpack].
type Body struct {
	service  *Service
	head     Head
	buffer   *bytes.Buffer // nil if not read yet, or closed
	rest     []byte        // of the buffer: bytes that Read has not returned
	sent     limitedReader
	unpacked limitedReader // what is unpacked
	gzip     *unpacker     // nil if the body is not compressed, or closed
	err      error         // why reading failed; nil if it has not
	closed   bool
}

// Body reads r with the encoding of h. It must be closed.
func (s *Service) Body(h Head, r io.Reader) *Body {
	b := &Body{service: s, head: h, sent: limitedReader{r, s.maxBody}}
	switch codingOf(h.ContentEncoding) {
	case gzipped:
		b.gzip = s.newUnpacker(&b.sent)
		b.unpacked = limitedReader{b.gzip, s.maxBody}
	case unknown:
		b.err = badEncoding()
	}
	return b
}

const (
	// maxPreallocate bounds the memory for the declared length of a body before any of it has come.
	maxPreallocate = 64 << 10
	// maxReuse is the size up to which a buffer is used again.
	maxReuse = 256 << 10
)

// Bytes returns the complete body. It is valid until Close.
func (b *Body) Bytes() ([]byte, error) {
	switch {
	case b.closed:
		return nil, errClosed
	case b.buffer != nil || b.err != nil:
	default:
		if b.buffer, _ = b.service.buffers.Get().(*bytes.Buffer); b.buffer == nil {
			b.buffer = &bytes.Buffer{}
		}
		if b.head.Length > 0 {
			b.buffer.Grow(int(min(b.head.Length, b.service.maxBody, maxPreallocate)) + bytes.MinRead)
		}
		if _, b.err = b.buffer.ReadFrom(bodyReader{b}); b.err == nil {
			b.err = b.service.countRecords(b.head, b.buffer.Bytes())
		}
		b.rest = b.buffer.Bytes()
	}
	if b.err != nil {
		return nil, b.err
	}
	return b.buffer.Bytes(), nil
}

// Read implements [io.Reader].
func (b *Body) Read(p []byte) (n int, err error) {
	if _, err := b.Bytes(); err != nil {
		return 0, err
	}
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n = copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// Discard reads the complete body to nowhere. Nothing can be decoded, so nothing is counted.
func (b *Body) Discard() error {
	if b.closed {
		return errClosed
	}
	_, err := io.Copy(io.Discard, bodyReader{b})
	return err
}

// bodyReader reads a body as it comes.
type bodyReader struct{ b *Body }

func (a bodyReader) Read(p []byte) (n int, err error) {
	b := a.b
	if b.err != nil {
		return 0, b.err
	}
	if b.unpacked.r == nil {
		n, err = b.sent.Read(p)
	} else {
		n, err = b.unpacked.Read(p)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		if errors.Is(err, errOverlong) {
			err = tooLargeError(b.service.maxBody)
		}
		b.err = err
	}
	return n, err
}

// Close releases buffers. It does not close the reader.
func (b *Body) Close() error {
	if b.gzip != nil {
		b.gzip.release()
		b.gzip = nil
	}
	if b.buffer != nil && b.buffer.Cap() <= maxReuse {
		b.buffer.Reset()
		b.service.buffers.Put(b.buffer)
	}
	b.buffer, b.rest, b.closed = nil, nil, true
	return nil
}

// Refusal returns the error response for a decoder's error err: the error of reading the body, if
// there was one, or else that the body is malformed, and where. After Close it can return only the
// former.
func (b *Body) Refusal(err error) error {
	if err == nil {
		return nil
	}
	if b.err != nil {
		err = b.err
	}
	var r *Refusal
	var slow interface{ Timeout() bool }
	switch {
	case errors.As(err, &r):
		return err
	case errors.As(err, &slow) && slow.Timeout():
		return tooSlow(err)
	case b.unpacked.r != nil && b.err != nil:
		return notGzip(err)
	}
	if b.buffer == nil {
		return b.service.Malformed(Head{}, nil, err)
	}
	return b.service.Malformed(b.head, b.buffer.Bytes(), err)
}

// Unpack is Body for a server that has read the complete body already. The result may be body
// itself.
//
// A body of 1 MB can be an array of half a million empty records, which decoded take hundreds of
// times as much. So a body with more records than a batch may have is rejected before any stack can
// decode it.
func (s *Service) Unpack(h Head, body []byte) ([]byte, error) {
	body, err := s.unpackBody(h, body)
	if err == nil {
		err = s.countRecords(h, body)
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}

func (s *Service) unpackBody(h Head, body []byte) ([]byte, error) {
	if int64(len(body)) > s.maxBody {
		return nil, tooLargeError(s.maxBody)
	}
	switch codingOf(h.ContentEncoding) {
	case plain:
		return body, nil
	case unknown:
		return nil, badEncoding()
	}
	u := s.newUnpacker(bytes.NewReader(body))
	defer u.release()
	limited := limitedReader{u, s.maxBody}
	out := make([]byte, 0, s.guessSize(body))
	for {
		n, err := limited.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case errors.Is(err, errOverlong):
			return nil, tooLargeError(s.maxBody)
		case err != nil:
			return nil, notGzip(err)
		}
		if len(out) == cap(out) {
			out = append(out, 0)[:len(out)]
		}
	}
}

// guessSize returns how long a compressed body may be when it is unpacked. Its last four bytes
// contain that, if it has one member; whatever they contain, it is no more than the format can hold
// or a body may have.
func (s *Service) guessSize(body []byte) int64 {
	const most = 1032 // largest expansion of a byte of deflate, see https://zlib.net/zlib_tech.html
	n := len(body)
	if n < 4 {
		return bytes.MinRead
	}
	size := int64(body[n-4]) | int64(body[n-3])<<8 | int64(body[n-2])<<16 | int64(body[n-1])<<24
	// One byte more, so that reading the end needs no more room.
	return min(size, s.maxBody, most*int64(n)) + 1
}

var (
	errClosed   = errors.New("the body is closed")
	errOverlong = errors.New("more bytes than the limit")
)

// limitedReader fails if r has more than left bytes.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, errOverlong
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return n - 1, errOverlong
	}
	return n, err
}

// unpacker reads gzip, one member or more. The first Read reads the first member's head.
type unpacker struct {
	service *Service
	in      *bufio.Reader
	gzip    gzip.Reader
	begun   bool
}

func (s *Service) newUnpacker(r io.Reader) *unpacker {
	u, _ := s.unpackers.Get().(*unpacker)
	if u == nil {
		u = &unpacker{service: s, in: bufio.NewReaderSize(nil, 4096)}
	}
	u.in.Reset(r)
	u.begun = false
	return u
}

// Read fails with io.ErrUnexpectedEOF if nothing was sent at all.
func (u *unpacker) Read(p []byte) (int, error) {
	if !u.begun {
		if err := u.gzip.Reset(u.in); errors.Is(err, io.EOF) {
			return 0, io.ErrUnexpectedEOF
		} else if err != nil {
			return 0, err
		}
		u.begun = true
	}
	return u.gzip.Read(p)
}

// release returns u to its pool. It is not used afterwards.
func (u *unpacker) release() {
	u.in.Reset(nil)
	u.service.unpackers.Put(u)
}
