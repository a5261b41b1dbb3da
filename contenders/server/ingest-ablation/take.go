package main

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/tarebench/tare/apps/ingest"
)

// processBatch reads a batch and does the steps up to the level. Below encode the receipt is zero.
func (s *service) processBatch(r *http.Request) (ingest.Receipt, error) {
	head := ingest.Head{
		Authorization:   r.Header.Get("Authorization"),
		ContentType:     r.Header.Get("Content-Type"),
		ContentEncoding: r.Header.Get("Content-Encoding"),
		Length:          r.ContentLength,
		Traceparent:     r.Header.Get("traceparent"),
	}
	if _, err := s.Admit(head, ingest.JSON); err != nil {
		return ingest.Receipt{}, err
	}
	sent := sentBytes{reader: r.Body}
	body := s.Body(head, &sent)
	defer body.Close()
	text, err := s.readBody(body)
	s.receipts.Body(sent.n)
	if err != nil || s.level <= read {
		return ingest.Receipt{}, body.Refusal(err)
	}
	batch := s.Batch(json.Marshal)
	if err := json.Unmarshal(text, batch.Target()); err != nil {
		return ingest.Receipt{}, body.Refusal(err)
	}
	if s.level == parse {
		return ingest.Receipt{}, nil
	}
	return s.Accept(r.Context(), head, batch)
}

// readBody returns the unpacked body. At level discard it drops the bytes and returns nil.
func (s *service) readBody(body *ingest.Body) ([]byte, error) {
	if s.level == discard {
		return nil, body.Discard()
	}
	return body.Bytes()
}

// sentBytes counts the bytes of a body as sent.
type sentBytes struct {
	reader io.Reader
	n      int64 // number of bytes
}

// Read implements [io.Reader].
func (s *sentBytes) Read(p []byte) (int, error) {
	n, err := s.reader.Read(p)
	s.n += int64(n)
	return n, err
}
