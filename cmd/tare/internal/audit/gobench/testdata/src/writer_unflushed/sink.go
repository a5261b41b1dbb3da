package writer_unflushed

import (
	"compress/gzip"
	"encoding/json"
	"io"
)

// sink writes rows as compressed JSON.
type sink struct {
	zip *gzip.Writer
	enc *json.Encoder
}

func newSink(w io.Writer) *sink {
	zip := gzip.NewWriter(w)
	return &sink{zip: zip, enc: json.NewEncoder(zip)}
}

func (s *sink) restart(w io.Writer) { s.zip.Reset(w) }

func (s *sink) write(rows ...int) error {
	for _, r := range rows {
		if err := s.enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func (s *sink) done() error { return s.zip.Close() }

// begin ends the stream before it begins another.
func (s *sink) begin(w io.Writer) error {
	if err := s.done(); err != nil {
		return err
	}
	s.zip.Reset(w)
	return nil
}
