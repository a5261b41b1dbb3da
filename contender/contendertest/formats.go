package contendertest

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/tarebench/tare/app/ingest"
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
	for format, body := range map[ingest.Format][]byte{ingest.Gob: b.Bytes(), ingest.Protobuf: protobuf(records)} {
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

// protobuf is a batch as a message of one repeated field, its records, of an id,
// a timestamp in milliseconds and metadata, whose fields are numbered in the
// order in which they are declared. What is zero is left out.
func protobuf(records []ingest.Record) []byte {
	const varint, fixed64, bytes = 0, 1, 2
	tag := func(b []byte, number, kind int) []byte { return binary.AppendUvarint(b, uint64(number<<3|kind)) }
	text := func(b []byte, number int, s []byte) []byte {
		if len(s) == 0 {
			return b
		}
		return append(binary.AppendUvarint(tag(b, number, bytes), uint64(len(s))), s...)
	}
	whole := func(b []byte, number int, n int64) []byte {
		if n == 0 {
			return b
		}
		return binary.AppendUvarint(tag(b, number, varint), uint64(n))
	}
	var batch []byte
	for _, r := range records {
		var metadata []byte
		values := reflect.ValueOf(r.Metadata)
		for i := range values.NumField() {
			switch v := values.Field(i); v.Kind() {
			case reflect.String:
				metadata = text(metadata, i+1, []byte(v.String()))
			case reflect.Int:
				metadata = whole(metadata, i+1, v.Int())
			case reflect.Bool:
				if v.Bool() {
					metadata = whole(metadata, i+1, 1)
				}
			case reflect.Float64:
				metadata = binary.LittleEndian.AppendUint64(tag(metadata, i+1, fixed64), math.Float64bits(v.Float()))
			}
		}
		record := whole(text(nil, 1, []byte(r.ID)), 2, r.Timestamp.UnixMilli())
		batch = text(batch, 1, text(record, 3, metadata))
	}
	return batch
}
