package workload

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/kinds/server"
)

// Name and values of the setting for the encoding of batches. The events are the same in every encoding.
const (
	setBody      = "body"
	bodyJSON     = "json"
	bodyProtobuf = "protobuf"
	bodyGob      = "gob"
)

func newDialect(_ tare.Contender, set map[string]string) (server.Dialect, error) {
	switch format := set[setBody]; format {
	case "", bodyJSON:
		return server.Dialect{}, nil // the requests are in JSON already
	case bodyProtobuf, bodyGob:
		return server.Dialect{Name: format, Encode: func(request server.Request) (server.Request, bool, error) {
			request, err := encodeBatch(request, format)
			return request, true, err
		}}, nil
	default:
		return server.Dialect{}, fmt.Errorf("%s: %q is none of %s, %s and %s", setBody, format, bodyJSON, bodyProtobuf, bodyGob)
	}
}

// encodeBatch encodes a JSON batch as protobuf or gob. A request without a batch, or with other headers, tests
// error responses and stays.
func encodeBatch(request server.Request, format string) (server.Request, error) {
	var encode func([]ingest.Record) ([]byte, error)
	var kind ingest.Format
	switch format {
	case bodyProtobuf:
		encode, kind = ingest.EncodeProtobuf, ingest.Protobuf
	case bodyGob:
		encode, kind = encodeGob, ingest.Gob
	}
	isJSON := len(request.Header) == 1 && request.Header[server.ContentType] == server.TypeJSON
	if request.Items == 0 || !isJSON {
		return request, nil
	}
	var list []ingest.Record
	err := json.Unmarshal(request.Body, &list)
	truncated := err != nil // tests a batch without its last bracket
	if truncated {
		err = json.Unmarshal(append(bytes.Clone(request.Body), ']'), &list)
	}
	if err != nil {
		return request, err
	}
	body, err := encode(list)
	if err != nil {
		return request, err
	}
	if truncated {
		body = body[:len(body)/2] // truncate the other format, too
	}
	request.Header, request.Body = map[string]string{server.ContentType: string(kind)}, body
	return request, nil
}

func encodeGob(list []ingest.Record) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(list)
	return b.Bytes(), err
}
