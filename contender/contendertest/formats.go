package contendertest

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"

	"github.com/tarebench/tare/apps/ingest"
)

// checkFormats sends a batch in the formats that not everybody takes: what is
// taken must be understood, and what is not refused by its type.
func (e exam) checkFormats() error {
	addr, err := e.serves(nil)
	if err != nil {
		return err
	}
	var sent good
	for _, g := range e.good {
		if g.items == 10 {
			sent = g
			break
		}
	}
	var records []ingest.Record
	if err := json.Unmarshal(sent.body, &records); err != nil {
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
		q := asked{method: "POST", path: "/", header: [][2]string{{"Content-Type", string(format)}}, body: body}
		got, err := e.askOnce(addr, q)
		switch {
		case err != nil:
			return fmt.Errorf("%v: %w", q, err)
		case e.Trap:
		case got.status == 415:
			err = refusal(got, "media_type")
		case e.loose():
		default:
			if err = sent.wrong(got); err == nil {
				q.body = body[:len(body)-1]
				if got, err = e.askOnce(addr, q); err == nil && got.status != 400 {
					err = fmt.Errorf("without its last byte: status %d, want 400", got.status)
				}
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	return nil
}
