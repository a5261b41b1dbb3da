package main

import (
	"fmt"
	"time"

	fflib "github.com/pquerna/ffjson/fflib/v1"

	"github.com/pquerna/ffjson/ffjson"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contenders/server/nethttp-ffjson/model"
)

// batch implements [ingest.Batch]. ffjson generates code only for structs, and would use encoding/json for a
// slice. So parseArray reads brackets and commas, and generated code each record.
type batch []model.Record

var _ ingest.Batch = batch(nil)

func (b batch) Len() int                       { return len(b) }
func (b batch) Head(i int) (string, time.Time) { return b[i].ID, b[i].Timestamp.Time }
func (b batch) Metadata(i int) ([]byte, error) { return ffjson.Marshal(&b[i].Metadata) }

// decodeBatch decodes a body of app ingest. If the service stores metadata as received, the records have raw
// JSON. After an error the batch must not be used.
func decodeBatch(s *ingest.Service, body []byte) (ingest.Batch, error) {
	if !s.Typed() {
		list, err := parseArray[model.RawRecord](body)
		records := make([]ingest.RawRecord, len(list))
		for i, r := range list {
			records[i] = ingest.RawRecord(r)
		}
		return ingest.Raws(records), err
	}
	list, err := parseArray[model.Record](body)
	return batch(list), err
}

type generated[T any] interface {
	*T
	UnmarshalJSONFFLexer(*fflib.FFLexer, fflib.FFParseState) error
}

// parseArray parses a complete body. For null it returns nil. The names of ffjson's tokens are exchanged:
// FFTok_left_brace is [, and FFTok_left_bracket is {.
func parseArray[T any, P generated[T]](body []byte) (list []T, err error) {
	lexer := fflib.NewFFLexer(body)
	switch token := lexer.Scan(); token {
	case fflib.FFTok_null: // list stays nil
	case fflib.FFTok_left_brace:
		if list, err = parseElements[T, P](lexer); err != nil {
			return nil, err
		}
	default:
		return nil, unexpectedToken(lexer, token)
	}
	if token := lexer.Scan(); token != fflib.FFTok_eof {
		return nil, unexpectedToken(lexer, token)
	}
	return list, nil
}

// parseElements parses the elements of an array after its first bracket, and the last bracket.
func parseElements[T any, P generated[T]](lexer *fflib.FFLexer) (list []T, err error) {
	for {
		token := lexer.Scan()
		if token == fflib.FFTok_right_brace && len(list) == 0 {
			return list, nil
		}
		var next T
		list = append(list, next)
		switch token {
		case fflib.FFTok_null: // the record stays zero
		case fflib.FFTok_left_bracket:
			if err := P(&list[len(list)-1]).UnmarshalJSONFFLexer(lexer, fflib.FFParse_want_key); err != nil {
				return nil, err
			}
		default:
			return nil, unexpectedToken(lexer, token)
		}
		switch token := lexer.Scan(); token {
		case fflib.FFTok_comma: // another element follows
		case fflib.FFTok_right_brace:
			return list, nil
		default:
			return nil, unexpectedToken(lexer, token)
		}
	}
}

// unexpectedToken returns an error with the position of the lexer.
func unexpectedToken(lexer *fflib.FFLexer, token fflib.FFTok) error {
	return lexer.WrapErr(fmt.Errorf("unexpected token: %v", token))
}
