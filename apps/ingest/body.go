package ingest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
)

// Body is the unpacked body of a request. It returns bytes only after the records are counted: see
// [Service.Unpack]. The service reuses its buffers after Close.
type Body struct {
	service  *Service
	head     Head
	buffer   *bytes.Buffer // may be nil
	rest     []byte        // bytes that Read has not returned
	sent     limitedReader
	unpacked limitedReader // its r is nil if the body is not compressed
	gzip     *unpacker     // nil if not compressed, or closed
	err      error
	closed   bool
}

// Body returns the body in r, compressed as h declares. The caller must close it.
func (s *Service) Body(h Head, r io.Reader) *Body {
	b := &Body{service: s, head: h, sent: limitedReader{r: r, remaining: s.maxBody}}
	switch parseCoding(h.ContentEncoding) {
	case gzipped:
		b.gzip = s.newUnpacker(&b.sent)
		b.unpacked = limitedReader{r: b.gzip, remaining: s.maxBody}
	case unknown:
		b.err = badEncoding()
	}
	return b
}

const (
	// maxPreallocate limits the buffer for a declared length. A client may declare much and send nothing.
	maxPreallocate = 64 << 10
	maxReuse       = 256 << 10
)

// Bytes returns the complete body. The slice is valid until Close.
func (b *Body) Bytes() ([]byte, error) {
	if b.closed {
		return nil, errClosed
	}
	isRead := b.buffer != nil || b.err != nil
	if !isRead {
		b.readAll()
	}
	if b.err != nil {
		return nil, b.err
	}
	return b.buffer.Bytes(), nil
}

// readAll reads the body into the buffer and counts its records. It sets b.err.
func (b *Body) readAll() {
	b.buffer, _ = b.service.buffers.Get().(*bytes.Buffer)
	if b.buffer == nil {
		b.buffer = &bytes.Buffer{}
	}
	if b.head.Length > 0 {
		b.buffer.Grow(int(min(b.head.Length, b.service.maxBody, maxPreallocate)) + bytes.MinRead)
	}
	_, b.err = b.buffer.ReadFrom(bodyReader{b})
	if b.err == nil {
		b.err = b.service.countRecords(b.head, b.buffer.Bytes())
	}
	b.rest = b.buffer.Bytes()
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

// Discard drops the complete body, without counting the records.
func (b *Body) Discard() error {
	if b.closed {
		return errClosed
	}
	_, err := io.Copy(io.Discard, bodyReader{b})
	return err
}

// bodyReader unpacks a body while it arrives.
type bodyReader struct{ b *Body }

// Read implements [io.Reader].
func (r bodyReader) Read(p []byte) (n int, err error) {
	b := r.b
	if b.err != nil {
		return 0, b.err
	}
	if b.isCompressed() {
		n, err = b.unpacked.Read(p)
	} else {
		n, err = b.sent.Read(p)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		if errors.Is(err, errOverlong) {
			err = tooLargeError(b.service.maxBody)
		}
		b.err = err
	}
	return n, err
}

func (b *Body) isCompressed() bool { return b.unpacked.r != nil }

// Close returns the buffers to their pools. It does not close the reader.
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

// Refusal returns the error response if a decoder failed with err: that of reading, or a description of the
// fault. After Close it has no details. If err is nil, so is the result.
func (b *Body) Refusal(err error) error {
	if err == nil {
		return nil
	}
	if b.err != nil {
		err = b.err
	}
	var r *Refusal
	var timeout interface{ Timeout() bool } // method of net.Error
	switch {
	case errors.As(err, &r):
		return err
	case errors.As(err, &timeout) && timeout.Timeout():
		return tooSlow(err)
	case b.isCompressed() && b.err != nil:
		return notGzip(err)
	}
	if b.buffer == nil { // closed
		return b.service.Malformed(Head{}, nil, err)
	}
	return b.service.Malformed(b.head, b.buffer.Bytes(), err)
}

// Unpack is [Service.Body] for a complete body. The result may be body itself.
//
// It rejects too many records. A body of 1 MB can be half a million empty records, which take hundreds of
// times the memory when decoded.
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

// unpackBody decompresses body. An error is a [Refusal].
func (s *Service) unpackBody(h Head, body []byte) ([]byte, error) {
	if int64(len(body)) > s.maxBody {
		return nil, tooLargeError(s.maxBody)
	}
	switch parseCoding(h.ContentEncoding) {
	case plain:
		return body, nil
	case unknown:
		return nil, badEncoding()
	}
	u := s.newUnpacker(bytes.NewReader(body))
	defer u.release()
	limited := limitedReader{r: u, remaining: s.maxBody}
	unpacked := make([]byte, 0, s.guessSize(body))
	for {
		n, err := limited.Read(unpacked[len(unpacked):cap(unpacked)])
		unpacked = unpacked[:len(unpacked)+n]
		switch {
		case errors.Is(err, io.EOF):
			return unpacked, nil
		case errors.Is(err, errOverlong):
			return nil, tooLargeError(s.maxBody)
		case err != nil:
			return nil, notGzip(err)
		}
		if len(unpacked) == cap(unpacked) {
			unpacked = append(unpacked, 0)[:len(unpacked)] // grow, as io.ReadAll does
		}
	}
}

// guessSize returns the capacity for an unpacked body. The last four bytes of gzip are the size of one member
// (RFC 1952, section 2.3.1). A client can send any value, so it is limited.
func (s *Service) guessSize(body []byte) int64 {
	const maxExpansion = 1032 // limit of deflate, see https://zlib.net/zlib_tech.html
	n := len(body)
	if n < 4 {
		return bytes.MinRead
	}
	size := int64(binary.LittleEndian.Uint32(body[n-4:]))
	return min(size, s.maxBody, maxExpansion*int64(n)) + 1
}

var (
	errClosed   = errors.New("the body is closed")
	errOverlong = errors.New("more bytes than the limit")
)

type limitedReader struct {
	r         io.Reader
	remaining int64 // bytes that r may still return; -1 after errOverlong
}

// Read implements [io.Reader].
func (l *limitedReader) Read(p []byte) (int, error) {
	if l.remaining < 0 {
		return 0, errOverlong
	}
	// One more byte shows whether r has more.
	if int64(len(p)) > l.remaining+1 {
		p = p[:l.remaining+1]
	}
	n, err := l.r.Read(p)
	l.remaining -= int64(n)
	if l.remaining < 0 {
		return n - 1, errOverlong
	}
	return n, err
}

// unpacker decompresses gzip. Unpackers are pooled, because a gzip.Reader is large.
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

// Read implements [io.Reader]. It fails with io.ErrUnexpectedEOF if no byte was sent.
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

// release returns u to its pool.
func (u *unpacker) release() {
	u.in.Reset(nil)
	u.service.unpackers.Put(u)
}
