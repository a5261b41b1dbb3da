package ingest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// Body is a request's body, unpacked. Nothing of it is handed over before all of it
// has come and its records were counted: see [Service.Unpack].
type Body struct {
	service *Service
	head    Head
	buffer  *bytes.Buffer // nil: nothing was asked for yet, or closed
	rest    []byte        // of the buffer: what Read has not handed over
	sent    limited
	whole   limited   // what is unpacked
	gzip    *unpacker // nil: the body is not packed, or closed
	err     error     // why reading failed; nil: it has not
	closed  bool
}

// Body reads r as h says that it is encoded. It must be closed.
func (s *Service) Body(h Head, r io.Reader) *Body {
	b := &Body{service: s, head: h, sent: limited{r, s.maxBody}}
	switch codingOf(h.ContentEncoding) {
	case packed:
		b.gzip = s.unpacker(&b.sent)
		b.whole = limited{b.gzip, s.maxBody}
	case unknown:
		b.err = badEncoding()
	}
	return b
}

const (
	// believed is how much of a body that a request announces is made room for
	// before any of it has come.
	believed = 64 << 10
	// kept is how large a buffer may be to be used again.
	kept = 256 << 10
)

// Bytes is the whole body. It is lent until Close.
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
			b.buffer.Grow(int(min(b.head.Length, b.service.maxBody, believed)) + bytes.MinRead)
		}
		if _, b.err = b.buffer.ReadFrom(arriving{b}); b.err == nil {
			b.err = b.service.count(b.head, b.buffer.Bytes())
		}
		b.rest = b.buffer.Bytes()
	}
	if b.err != nil {
		return nil, b.err
	}
	return b.buffer.Bytes(), nil
}

// Read is that of [io.Reader].
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

// Discard reads the whole body to nowhere. Nothing can be decoded, so nothing is
// counted.
func (b *Body) Discard() error {
	if b.closed {
		return errClosed
	}
	_, err := io.Copy(io.Discard, arriving{b})
	return err
}

// arriving is a body as it comes.
type arriving struct{ b *Body }

func (a arriving) Read(p []byte) (n int, err error) {
	b := a.b
	if b.err != nil {
		return 0, b.err
	}
	if b.whole.r == nil {
		n, err = b.sent.Read(p)
	} else {
		n, err = b.whole.Read(p)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		if errors.Is(err, errOverlong) {
			err = overlong(b.service.maxBody)
		}
		b.err = err
	}
	return n, err
}

// Close gives buffers back. It does not close what it reads from.
func (b *Body) Close() error {
	if b.gzip != nil {
		b.gzip.free()
		b.gzip = nil
	}
	if b.buffer != nil && b.buffer.Cap() <= kept {
		b.buffer.Reset()
		b.service.buffers.Put(b.buffer)
	}
	b.buffer, b.rest, b.closed = nil, nil, true
	return nil
}

// Refusal is what a decoder's error err means: what went wrong with reading
// the body, if that was it, or else that the body is malformed, and in what. It
// may be asked after Close, when only the former can be said.
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
	case b.whole.r != nil && b.err != nil:
		return notGzip(err)
	}
	if b.buffer == nil {
		return b.service.Malformed(Head{}, nil, err)
	}
	return b.service.Malformed(b.head, b.buffer.Bytes(), err)
}

// Unpack is Body for a server that has read the whole body already. The result
// may be body itself.
//
// A body of 1 MB can be an array of half a million records that say nothing,
// which decoded take hundreds of times as much. So what has more records than a
// batch may have is refused here, before any stack can decode it.
func (s *Service) Unpack(h Head, body []byte) ([]byte, error) {
	body, err := s.unpack(h, body)
	if err == nil {
		err = s.count(h, body)
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}

func (s *Service) unpack(h Head, body []byte) ([]byte, error) {
	if int64(len(body)) > s.maxBody {
		return nil, overlong(s.maxBody)
	}
	switch codingOf(h.ContentEncoding) {
	case plain:
		return body, nil
	case unknown:
		return nil, badEncoding()
	}
	u := s.unpacker(bytes.NewReader(body))
	defer u.free()
	whole := limited{u, s.maxBody}
	out := make([]byte, 0, s.guess(body))
	for {
		n, err := whole.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case errors.Is(err, errOverlong):
			return nil, overlong(s.maxBody)
		case err != nil:
			return nil, notGzip(err)
		}
		if len(out) == cap(out) {
			out = append(out, 0)[:len(out)]
		}
	}
}

// guess is how long a packed body may be when it is unpacked. Its last four
// bytes say so, if it has one member; whatever they say, it is no more than
// the format can hold or a body may have.
func (s *Service) guess(body []byte) int64 {
	const most = 1032 // that a byte of deflate can become, see https://zlib.net/zlib_tech.html
	n := len(body)
	if n < 4 {
		return bytes.MinRead
	}
	said := int64(body[n-4]) | int64(body[n-3])<<8 | int64(body[n-2])<<16 | int64(body[n-1])<<24
	// One byte more, so that reading the end needs no more room.
	return min(said, s.maxBody, most*int64(n)) + 1
}

var (
	errClosed   = errors.New("the body is closed")
	errOverlong = errors.New("more bytes than the limit")
)

// limited fails where r goes on after left bytes.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
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

// unpacker reads gzip, one member or more. The first member's head is read by
// the first Read.
type unpacker struct {
	service *Service
	in      *bufio.Reader
	gzip    gzip.Reader
	begun   bool
}

func (s *Service) unpacker(r io.Reader) *unpacker {
	u, _ := s.unpackers.Get().(*unpacker)
	if u == nil {
		u = &unpacker{service: s, in: bufio.NewReaderSize(nil, 4096)}
	}
	u.in.Reset(r)
	u.begun = false
	return u
}

// Read fails with io.ErrUnexpectedEOF where nothing was sent at all.
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

// free gives u back. It is not used afterwards.
func (u *unpacker) free() {
	u.in.Reset(nil)
	u.service.unpackers.Put(u)
}
