package conformance

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/internal/conformance"
)

// checkFormats sends a server a batch of records in the encodings gob and protobuf. A server need not support
// them:
//
//   - If it does not, it must reject the batch with status 415.
//   - If it does, it must respond in the same way as to the batch in JSON, and reject a truncated body.
func checkFormats(e conformance.Env) error {
	addr, err := e.StartServer(nil)
	if err != nil {
		return err
	}
	batch := e.GoodRequests[0] // a batch of ten records, see App
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
		got, err := e.SendOnce(addr, request)
		if err != nil {
			return fmt.Errorf("%v: %w", request, err)
		}
		if err := checkFormat(e, addr, batch, request, got); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	return nil
}

// checkFormat checks got, the response to request. The request has the records of batch in another encoding.
// A server that repeats a mistake of a published benchmark on purpose may respond in any way. Of a server that
// does only a part of the work, only the status counts.
func checkFormat(e conformance.Env, addr string, batch conformance.GoodRequest, request conformance.Request, got conformance.Response) error {
	switch {
	case e.WrongOnPurpose:
		return nil
	case got.Status == 415:
		return conformance.CheckErrorBody(got, "media_type")
	case e.IsStatusOnly():
		return nil
	}
	if err := batch.CheckResponse(got); err != nil {
		return err
	}
	return checkTruncated(e, addr, request)
}

// checkTruncated sends an accepted request without its last byte, which must be rejected.
func checkTruncated(e conformance.Env, addr string, request conformance.Request) error {
	request.Body = request.Body[:len(request.Body)-1]
	got, err := e.SendOnce(addr, request)
	if err == nil && got.Status != 400 {
		err = fmt.Errorf("without its last byte: status %d, want 400", got.Status)
	}
	return err
}
