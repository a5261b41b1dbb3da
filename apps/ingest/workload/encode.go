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

// Settings of an entry that select the encoding of a contender's batches. All get the same events.
const (
	setBody      = "body"
	bodyJSON     = "json"
	bodyProtobuf = "protobuf"
	bodyGob      = "gob"
)

// newDialect returns the encoding of batches for a contender: the format of its setting.
func newDialect(_ tare.Contender, set map[string]string) (server.Dialect, error) {
	format := set[setBody]
	switch format {
	case "", bodyJSON:
		return server.Dialect{}, nil
	case bodyProtobuf, bodyGob:
	default:
		return server.Dialect{}, fmt.Errorf("%s: %q is none of %s, %s and %s", setBody, format, bodyJSON, bodyProtobuf, bodyGob)
	}
	return server.Dialect{Name: format, Encode: func(q server.Request) (server.Request, bool, error) {
		q, err := encodeBatch(q, format)
		return q, true, err
	}}, nil
}

// encodeBatch encodes a batch in another format. It returns requests without a valid batch of JSON
// unchanged: their fault is their purpose.
func encodeBatch(q server.Request, format string) (server.Request, error) {
	var encode func([]ingest.Record) ([]byte, error)
	var kind ingest.Format
	switch format {
	case bodyProtobuf:
		encode, kind = ingest.EncodeProtobuf, ingest.Protobuf
	case bodyGob:
		encode, kind = encodeGob, ingest.Gob
	}
	if q.Items == 0 || len(q.Header) != 1 || q.Header[server.ContentType] != server.TypeJSON {
		return q, nil
	}
	var list []ingest.Record
	err := json.Unmarshal(q.Body, &list)
	cut := err != nil // a batch that breaks off does so in any format
	if cut {
		err = json.Unmarshal(append(bytes.Clone(q.Body), ']'), &list)
	}
	if err != nil {
		return q, err
	}
	body, err := encode(list)
	if err != nil {
		return q, err
	}
	if cut {
		body = body[:len(body)/2]
	}
	q.Header, q.Body = map[string]string{server.ContentType: string(kind)}, body
	return q, nil
}

func encodeGob(list []ingest.Record) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(list)
	return b.Bytes(), err
}
