package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/tarebench/tare/app/ingest"
)

// buffer is what a request's body is read into, and what counts its bytes.
type buffer struct {
	body bytes.Buffer
	sent sentBytes
}

const (
	announced = 64 << 10  // bytes of an announced body that room is made for before they come
	reused    = 256 << 10 // bytes of a buffer that is used again, at most
)

// take does with a batch what its level asks for.
func (s *service) take(r *http.Request) (ingest.Receipt, error) {
	head := ingest.Head{
		Authorization:   r.Header.Get("Authorization"),
		ContentType:     r.Header.Get("Content-Type"),
		ContentEncoding: r.Header.Get("Content-Encoding"),
		Length:          r.ContentLength,
	}
	if _, err := s.Admit(head, ingest.JSON); err != nil {
		return ingest.Receipt{}, err
	}
	b, _ := s.buffers.Get().(*buffer)
	if b == nil {
		b = &buffer{}
	}
	defer func() {
		b.body.Reset()
		if b.body.Cap() <= reused {
			s.buffers.Put(b)
		}
	}()
	if err := s.receive(b, head, r.Body); err != nil || s.level <= read {
		return ingest.Receipt{}, err
	}
	if crowded(b.body.Bytes(), s.most) {
		return s.Accept(r.Context(), many(s.most+1))
	}
	var list []ingest.Record
	if err := json.Unmarshal(b.body.Bytes(), &list); err != nil {
		return ingest.Receipt{}, ingest.Malformed(err)
	}
	if s.level == parse {
		return ingest.Receipt{}, nil
	}
	return s.Accept(r.Context(), ingest.Records(list, json.Marshal))
}

// receive reads the whole body, unpacked: into the buffer, or to nowhere.
func (s *service) receive(b *buffer, head ingest.Head, from io.Reader) error {
	b.sent = sentBytes{from: from}
	body := s.Body(head, &b.sent)
	defer func() {
		_ = body.Close() // all of it has been read, or is of no concern
		s.receipts.Body(b.sent.n)
		b.sent.from = nil
	}()
	if s.level == discard {
		_, err := io.Copy(io.Discard, body)
		return body.Refusal(err)
	}
	if head.Length > 0 {
		b.body.Grow(int(min(head.Length, announced)) + bytes.MinRead)
	}
	_, err := b.body.ReadFrom(body)
	return body.Refusal(err)
}

// sentBytes counts what is read of a body as it was sent.
type sentBytes struct {
	from io.Reader
	n    int64
}

func (s *sentBytes) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.n += int64(n)
	return n, err
}
