package conformance

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/internal/conformance"
)

// checkFormats sends a batch in the optional formats: an accepted one must be understood, and
// others rejected by their type.
func checkFormats(e conformance.Exam) error {
	addr, err := e.Serves(nil)
	if err != nil {
		return err
	}
	var sent conformance.Good
	for _, g := range e.Good {
		if g.Items == 10 {
			sent = g
			break
		}
	}
	var records []ingest.Record
	if err := json.Unmarshal(sent.Body, &records); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(records); err != nil {
		return err
	}
	message, err := ingest.EncodeProtobuf(records)
	if err != nil {
		return err
	}
	for format, body := range map[ingest.Format][]byte{ingest.Gob: b.Bytes(), ingest.Protobuf: message} {
		q := conformance.Request{Method: "POST", Path: "/", Header: [][2]string{{"Content-Type", string(format)}}, Body: body}
		got, err := e.AskOnce(addr, q)
		switch {
		case err != nil:
			return fmt.Errorf("%v: %w", q, err)
		case e.Trap:
		case got.Status == 415:
			err = conformance.Refusal(got, "media_type")
		case e.Loose():
		default:
			if err = sent.Wrong(got); err == nil {
				q.Body = body[:len(body)-1]
				if got, err = e.AskOnce(addr, q); err == nil && got.Status != 400 {
					err = fmt.Errorf("without its last byte: status %d, want 400", got.Status)
				}
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	return nil
}
