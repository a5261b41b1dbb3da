package conformance

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/internal/conformance"
)

// checkFormats sends a batch in gob and in protobuf to a server of app ingest. The server need not support
// these formats: it must either accept the batch, or reject it with status 415 because of its type. If
// it accepts a format, it must respond as to the same batch in JSON, and it must reject a truncated body.
// Two kinds of servers are excepted: traps, which reproduce a published mistake, and loose servers, of
// which the suite compares only the status.
func checkFormats(e conformance.Exam) error {
	addr, err := e.Serves(nil)
	if err != nil {
		return err
	}
	batch := e.Good[0] // App puts a batch of ten records first
	var records []ingest.Record
	if err := json.Unmarshal(batch.Body, &records); err != nil {
		return err
	}
	var gobBody bytes.Buffer
	if err := gob.NewEncoder(&gobBody).Encode(records); err != nil {
		return err
	}
	protobufBody, err := ingest.EncodeProtobuf(records)
	if err != nil {
		return err
	}
	for format, body := range map[ingest.Format][]byte{ingest.Gob: gobBody.Bytes(), ingest.Protobuf: protobufBody} {
		request := conformance.Request{Method: "POST", Path: "/", Header: [][2]string{{"Content-Type", string(format)}}, Body: body}
		got, err := e.AskOnce(addr, request)
		switch {
		case err != nil:
			return fmt.Errorf("%v: %w", request, err)
		case e.Trap:
			// The response need not be correct.
		case got.Status == 415:
			err = conformance.Refusal(got, "media_type") // checks that the error response has this code
		case e.Loose():
			// The body of the response need not be correct.
		default:
			err = batch.CheckAnswer(got)
			if err == nil {
				err = checkTruncated(e, addr, request)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	return nil
}

// checkTruncated checks that the server rejects request, which it has accepted, without its last byte.
func checkTruncated(e conformance.Exam, addr string, request conformance.Request) error {
	request.Body = request.Body[:len(request.Body)-1]
	got, err := e.AskOnce(addr, request)
	if err == nil && got.Status != 400 {
		err = fmt.Errorf("without its last byte: status %d, want 400", got.Status)
	}
	return err
}
